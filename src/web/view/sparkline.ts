import type { ViewContext } from './context.ts'
import { h, type ViewElement } from './node.ts'

const width = 240
const height = 34

/** Lines through the known values, as the `d` attribute of an SVG path; a gap ends a line. */
function pathOf(values: readonly (number | null)[], top: number): { readonly line: string; readonly area: string } {
  const step = width / Math.max(1, values.length - 1)
  const y = (value: number) => (height - 2 - (value / top) * (height - 4)).toFixed(1)
  let line = ''
  let area = ''
  let start: string | undefined
  let last = ''
  const close = () => {
    if (start !== undefined) area += `L${last} ${height}L${start} ${height}Z`
    start = undefined
  }
  for (const [index, value] of values.entries()) {
    if (value === null) {
      close()
      continue
    }
    const x = (index * step).toFixed(1)
    const point = `${start === undefined ? 'M' : 'L'}${x} ${y(value)}`
    line += point
    area += point
    start ??= x
    last = x
  }
  close()
  return { line, area }
}

/** The players of a day as a small curve. */
export function viewSparkline(name: string, values: readonly (number | null)[], { texts, format }: ViewContext): ViewElement {
  const known = values.filter((value) => value !== null)
  const peak = Math.max(0, ...known)
  const label = known.length === 0 ? texts.card.noPlayersOfDay(name) : texts.card.playersOfDay(name, format.integer(peak))
  const { line, area } = pathOf(values, Math.max(1, peak))
  const box = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', class: 'spark', role: 'img', 'aria-label': label }
  return h(
    'svg',
    box,
    area !== '' && h('path', { class: 'area', d: area }),
    line !== '' && h('path', { class: 'curve', d: line }),
  )
}
