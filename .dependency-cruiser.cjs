// The import law of ARCHITECTURE.md: a folder may import itself and the folders above it in this list, never below.
const order = [
  'model',
  'cri',
  'relist',
  'ring',
  'engine',
  'sync',
  'config',
  'agent',
  'doctor',
  'sim',
  'telemetry',
  'cli',
]
const forbidden = order.map((folder, i) => ({
  name: `${folder}-imports-only-what-stands-above-it`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: [`^src/(${order.slice(i + 1).join('|') || 'none'})/`, '^src/index\\.ts$'] },
}))
forbidden.push(
  {
    name: 'no-circular',
    severity: 'error',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'diff-imports-only-model',
    severity: 'error',
    from: { path: '^src/relist/diff\\.ts$' },
    to: { pathNot: '^src/model/' },
  },
  {
    name: 'workers-are-entries',
    severity: 'error',
    from: { path: '^src/' },
    to: { path: '^workers/', pathNot: '^workers/protocol\\.ts$' },
  },
  {
    name: 'workers-import-no-daemon',
    severity: 'error',
    from: { path: '^workers/' },
    to: { path: '^src/(sync|config|agent|doctor|telemetry|cli)/' },
  },
)
module.exports = {
  forbidden,
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
}
