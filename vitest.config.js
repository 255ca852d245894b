import { defineConfig } from 'vitest/config'

// Tests run as compiled by tsc, beside the compiled workers: what is tested is what ships.
const project = (name, extra = {}) => ({
  test: { name, include: [`dist/test/${name}/**/*.test.js`], pool: 'forks', ...extra },
})

export default defineConfig({
  test: {
    projects: [
      project('unit', { testTimeout: 120_000 }),
      project('threads', { testTimeout: 60_000, hookTimeout: 60_000 }),
      project('e2e', { testTimeout: 300_000, hookTimeout: 300_000, fileParallelism: false }),
    ],
  },
})
