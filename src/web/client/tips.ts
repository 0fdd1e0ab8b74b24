import { required } from './dom.ts'

/** Cells that the keys of a slider move by. Vertical keys are part of the pattern, and what touch screens send. */
const moves: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -7,
  PageUp: 7,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/**
 * Shows the label of a cell below the pointer, and moves within a bar of cells, which is a slider, with the keys. One listener each
 * for all bars of the page.
 */
export function setUpTips(): void {
  const tip = required('tip')
  let shown: Element | undefined

  function show(cell: HTMLElement | null): void {
    shown?.removeAttribute('data-shown')
    shown = cell ?? undefined
    tip.hidden = cell === null
    if (cell === null) return
    cell.setAttribute('data-shown', '')
    tip.textContent = cell.dataset.tip ?? ''
    const box = cell.getBoundingClientRect()
    const half = tip.offsetWidth / 2
    const left = Math.min(innerWidth - half - 8, Math.max(half + 8, box.left + box.width / 2))
    const above = box.top - tip.offsetHeight - 8
    tip.style.setProperty('left', `${left + scrollX}px`)
    tip.style.setProperty('top', `${(above > 0 ? above : box.bottom + 8) + scrollY}px`)
  }

  document.addEventListener('pointerover', ({ target }) => show(closest(target, '[data-tip]')))
  document.addEventListener('pointerdown', ({ target }) => {
    const cell = closest(target, '[data-tip]')
    const bar = closest(cell, '[role=slider]')
    if (cell !== null && bar !== null) choose(bar, [...bar.children].indexOf(cell))
  })
  document.addEventListener('focusin', ({ target }) => {
    const bar = closest(target, '[role=slider]')
    show(bar === null ? closest(target, '[data-tip]') : choose(bar, Number(bar.ariaValueNow)))
  })
  document.addEventListener('focusout', () => show(null))
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return show(null)
    const bar = closest(event.target, '[role=slider]')
    const move = moves[event.key]
    if (bar === null || move === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    show(choose(bar, Number(bar.ariaValueNow) + move))
  })
}

const closest = (target: EventTarget | null, selector: string): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>(selector) : null

/** Makes a cell the value of its bar. */
function choose(bar: HTMLElement, wanted: number): HTMLElement | null {
  const index = Math.min(bar.children.length - 1, Math.max(0, wanted))
  const cell = bar.children[index] as HTMLElement | undefined
  bar.toggleAttribute('data-moved', index < bar.children.length - 1)
  bar.setAttribute('aria-valuenow', String(index))
  bar.setAttribute('aria-valuetext', cell?.dataset.tip ?? '')
  return cell ?? null
}
