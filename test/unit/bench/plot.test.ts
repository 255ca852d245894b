import { describe, expect, it } from 'vitest'
import type { Block, ContenderName } from '../../../bench/block.js'
import { plot, seriesOf } from '../../../bench/plot.js'
import { anyBlock } from './anyBlock.js'

const block = (contender: ContenderName, pods: number, ms: number, elsewhere = false): Block => ({
  ...anyBlock({ kind: 'churn', contender, pods }, ms),
  elsewhere,
})

const blocks = [
  block('plegd', 1000, 5),
  block('plegd', 110, 2),
  block('plain', 110, 30),
  block('plain', 1000, 200),
  block('kubelet', 110, 13, true),
  block('kubelet', 1000, 123, true),
]

/** Tags closed in the order in which they were opened; returns the names of all. */
function wellFormed(svg: string): string[] {
  const open: string[] = []
  const names: string[] = []
  let rest = svg
  for (const [whole, closing, name, attributes, selfClosing] of svg.matchAll(
    /<(\/?)([a-z]+)((?:\s[\w:-]+="[^"<>]*")*)(\/?)>/g,
  )) {
    rest = rest.replace(whole, '')
    expect(attributes).toBeDefined()
    if (closing) expect(open.pop()).toBe(name)
    else {
      names.push(name!)
      if (!selfClosing) open.push(name!)
    }
  }
  expect(open).toEqual([])
  expect(rest).not.toMatch(/[<>"]|&(?!#\d+;)/)
  return names
}

describe('the plot', () => {
  const series = seriesOf(blocks, 'churn')

  it('has a line for each contender, and says which was measured elsewhere', () => {
    expect(series.map(({ name }) => name)).toEqual(['plegd', 'plain agent', 'kubelet (elsewhere)'])
    const svg = plot('1 % churn & <more>', series)
    expect(wellFormed(svg).filter((name) => name === 'polyline')).toHaveLength(3)
    expect(svg).toContain('1 % churn &#38; &#60;more&#62;')
  })

  it('draws the period and the threshold, and nothing outside of itself', () => {
    const svg = plot('title', series)
    expect(svg).toContain('relist period, 1 s')
    expect(svg).toContain('unhealthy from 3 min on')
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []
    for (const [, cx, cy] of svg.matchAll(/cx="([\d.]+)" cy="([\d.]+)"/g)) {
      expect(Number(cx)).toBeLessThan(Number(width))
      expect(Number(cy)).toBeLessThan(Number(height))
    }
  })

  it('puts more pods to the right and more time higher up', () => {
    const [line] = /<polyline points="([^"]+)"/.exec(plot('title', series.slice(0, 1)))!.slice(1)
    const [[x1, y1], [x2, y2]] = line!.split(' ').map((pair) => pair.split(',').map(Number)) as [number[], number[]]
    expect(x2).toBeGreaterThan(x1!)
    expect(y2).toBeLessThan(y1!)
  })
})
