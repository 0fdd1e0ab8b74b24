import type { ViewContext } from './context.ts'
import { h, type ViewElement } from './node.ts'

/** Whole numbers, so that the path is short: a page has dozens of them. */
const [step, height] = [3, 68]

/** Lines through the known values, as the `d` attribute of an SVG path; a gap ends a line. */
function pathOf(values: readonly (number | null)[], top: number): { readonly line: string; readonly area: string } {
  const y = (value: number) => Math.round(height - 4 - (value / top) * (height - 8))
  let [line, area] = ['', '']
  let start = -1
  let before = 0
  for (const [index, value] of [...values, null].entries()) {
    if (value === null) {
      if (start >= 0) area += `V${height}H${start * step}Z`
      start = -1
      continue
    }
    const next = y(value)
    const part = start < 0 ? `M${index * step} ${next}` : `l${step} ${next - before}`
    line += part
    area += part
    if (start < 0) start = index
    before = next
  }
  return { line, area }
}

/** The players of a day as a small curve. */
export function viewSparkline(name: string, values: readonly (number | null)[], { texts, format }: ViewContext): ViewElement {
  const known = values.filter((value) => value !== null)
  const peak = Math.max(0, ...known)
  const label = known.length === 0 ? texts.card.noPlayersOfDay(name) : texts.card.playersOfDay(name, format.integer(peak))
  const { line, area } = pathOf(values, Math.max(1, peak))
  const box = {
    viewBox: `0 0 ${Math.max(1, values.length - 1) * step} ${height}`,
    preserveAspectRatio: 'none',
    class: 'spark',
    role: 'img',
    'aria-label': label,
  }
  return h('svg', box, [
    area !== '' && h('path', { class: 'area', d: area }),
    line !== '' && h('path', { class: 'curve', d: line }),
  ])
}
