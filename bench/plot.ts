import type { Block, ContenderName } from './block.js'
import { milliseconds } from './report/format.js'
import { periodMs, thresholdMs } from './report/headroom.js'
import { changeSpread, isUsual, relistSpread } from './summary.js'

export interface Series {
  readonly name: string
  readonly color: string
  readonly points: readonly { readonly pods: number; readonly ms: number }[]
}

const width = 760
const height = 460
const lineHeight = 17
const frame = { left: 70, right: 190, top: 46, bottom: 50 }
const colors: Readonly<Partial<Record<ContenderName, string>>> = {
  plegd: '#1a7f37',
  plain: '#9a6700',
  kubelet: '#326ce5',
}
const names: Readonly<Partial<Record<ContenderName, string>>> = {
  plegd: 'plegd',
  plain: 'plain agent',
  kubelet: 'kubelet',
}

/** Median time of each contender by pods: with churn up to the last event, where `kind` is idle of the relist itself. */
export function seriesOf(blocks: readonly Block[], kind: 'idle' | 'churn'): Series[] {
  const of = (contender: ContenderName) =>
    blocks
      .filter(({ spec }) => spec.contender === contender && spec.kind === kind && isUsual(spec))
      .map((block) => ({ pods: block.result.pods, ms: (kind === 'churn' ? changeSpread : relistSpread)(block).p50 }))
  return (['plegd', 'plain', 'kubelet'] as const).flatMap((contender) => {
    const mine = of(contender)
    if (mine.length === 0) return []
    const elsewhere = blocks.some((block) => block.spec.contender === contender && block.elsewhere)
    const name = elsewhere ? `${names[contender]} (elsewhere)` : names[contender]!
    return [{ name, color: colors[contender]!, points: mine }]
  })
}

/** Time against pods, both logarithmic, as an SVG document. */
export function plot(title: string, series: readonly Series[]): string {
  const points = series.flatMap((one) => one.points)
  const x = scale(
    points.map(({ pods }) => pods),
    frame.left,
    width - frame.right,
  )
  const y = scale([...points.map(({ ms }) => ms), periodMs, thresholdMs], height - frame.bottom, frame.top)
  const parts = [
    text(frame.left, 22, title, 'font-size="15" font-weight="600"'),
    ...x.decades.flatMap((pods) => [
      line(x.at(pods), frame.top, x.at(pods), height - frame.bottom, 'stroke="#d0d7de"'),
      text(x.at(pods), height - frame.bottom + 18, pods.toLocaleString('en-US'), 'text-anchor="middle"'),
    ]),
    ...y.decades.flatMap((ms) => [
      line(frame.left, y.at(ms), width - frame.right, y.at(ms), 'stroke="#d0d7de"'),
      text(frame.left - 8, y.at(ms) + 4, milliseconds(ms).replace(/\.0+(?=\D)/, ''), 'text-anchor="end"'),
    ]),
    text((frame.left + width - frame.right) / 2, height - 12, 'pods on the node', 'text-anchor="middle"'),
    ...mark(y.at(periodMs), 'relist period, 1 s', '#57606a'),
    ...mark(y.at(thresholdMs), 'unhealthy from 3 min on', '#cf222e'),
    ...series.flatMap((one) => drawn(one, x.at, y.at)),
    ...labels(series, y.at),
  ]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#24292f">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function drawn({ name, color, points }: Series, x: (pods: number) => number, y: (ms: number) => number): string[] {
  const sorted = [...points].sort((a, b) => a.pods - b.pods)
  const at = sorted.map(({ pods, ms }) => `${x(pods).toFixed(1)},${y(ms).toFixed(1)}`)
  return [
    `<g class="series" data-name="${escaped(name)}">`,
    `<polyline points="${at.join(' ')}" fill="none" stroke="${color}" stroke-width="2.5"/>`,
    ...at.map((point) => `<circle cx="${point.replace(',', '" cy="')}" r="3.5" fill="${color}"/>`),
    '</g>',
  ]
}

/** Each series' name and last value, beside the frame, none upon another. */
function labels(series: readonly Series[], y: (ms: number) => number): string[] {
  const ends = series.map(({ name, color, points }) => {
    const last = points.reduce((largest, point) => (point.pods > largest.pods ? point : largest))
    return { label: `${name}: ${milliseconds(last.ms)}`, color, y: y(last.ms) + 4 }
  })
  let free = Number.NEGATIVE_INFINITY
  return ends
    .sort((a, b) => a.y - b.y)
    .map(({ label, color, y: wanted }) => {
      const at = Math.max(wanted, free)
      free = at + lineHeight
      return text(width - frame.right + 10, at, label, `fill="${color}" font-weight="600"`)
    })
}

function mark(y: number, label: string, color: string): string[] {
  return [
    line(frame.left, y, width - frame.right, y, `stroke="${color}" stroke-dasharray="6 4" stroke-width="1.5"`),
    text(frame.left + 6, y - 5, label, `fill="${color}"`),
  ]
}

/** Whole decades around the values. */
function scale(values: readonly number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    decades: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)),
    at: (value: number) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
  }
}

function line(x1: number, y1: number, x2: number, y2: number, style: string): string {
  return `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" ${style}/>`
}

function text(x: number, y: number, content: string, style: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${style}>${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
}
