import { headroomSection } from './headroom.js'
import type { Report } from './report.js'
import { blockSections, type Section } from './tables.js'

export function sectionsOf(report: Report): Section[] {
  return [...blockSections(report.blocks), headroomSection(report.blocks)].filter((section) => section !== null)
}

/** The run as a terminal shows it. */
export function renderReport(report: Report): string {
  const { cpu, cores, node, commit, date } = report.machine
  const head = `${cpu}, ${cores} cores, Node ${node}, plegd ${commit}, ${date}`
  return [head, ...sectionsOf(report).map(({ title, text }) => `${title}\n${text}`)].join('\n\n').concat('\n')
}
