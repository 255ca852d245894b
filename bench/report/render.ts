import type { Machine } from '../machine.js'
import { microSection } from '../micro/all.js'
import { goalsSection } from './goals.js'
import { headroomSection } from './headroom.js'
import type { Report } from './report.js'
import { blockSections, type Section } from './tables.js'

function sectionsOf({ blocks, micro }: Report): Section[] {
  const all = [...blockSections(blocks), headroomSection(blocks), goalsSection(blocks), microSection(micro)]
  return all.filter((section) => section !== null)
}

function describe({ cpu, cores, memoryMiB, kernel, node, commit, date }: Machine): string {
  return `${cpu}, ${cores} cores, ${Math.round(memoryMiB / 1024)} GiB, Linux ${kernel}, Node ${node}, plegd ${commit}, ${date}`
}

function origins({ machine, sources }: Report): string[] {
  return (sources ?? [machine]).map(describe)
}

export function renderSections(sections: readonly Section[]): string {
  return sections.map(({ title, text }) => `${title}\n${text}`).join('\n')
}

/** The run as a terminal shows it. */
export function renderReport(report: Report): string {
  return `${origins(report).join('\n')}\n\n${renderSections(sectionsOf(report))}`
}

/** The run as bench/RESULTS.md keeps it. */
export function renderMarkdown(report: Report): string {
  const head = [
    '# Results',
    '',
    '<!-- Written by `npm run bench -- --results`. Not by hand. -->',
    '',
    ...origins(report).map((line) => `- ${line}`),
    '',
    'What is measured and how: [docs/performance.md](../docs/performance.md).',
  ]
  const body = sectionsOf(report).flatMap(({ title, text }) => ['', `## ${title}`, '', '```', text.trimEnd(), '```'])
  return [...head, ...body, ''].join('\n')
}
