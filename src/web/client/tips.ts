import { required } from './dom.ts'

/** Shows the label of a cell, and moves within a bar of cells with the arrow keys. One listener each for all bars of the page. */
export function setUpTips(): void {
  const tip = required('tip')
  const cellOf = ({ target }: Event) => (target instanceof Element ? target.closest<HTMLElement>('[data-tip]') : null)

  function show(cell: HTMLElement | null): void {
    tip.hidden = cell === null
    if (cell === null) return
    tip.textContent = cell.dataset.tip ?? ''
    const box = cell.getBoundingClientRect()
    const half = tip.offsetWidth / 2
    const left = Math.min(innerWidth - half - 8, Math.max(half + 8, box.left + box.width / 2))
    const above = box.top - tip.offsetHeight - 8
    tip.style.setProperty('left', `${left + scrollX}px`)
    tip.style.setProperty('top', `${(above > 0 ? above : box.bottom + 8) + scrollY}px`)
  }

  document.addEventListener('pointerover', (event) => show(cellOf(event)))
  document.addEventListener('focusin', (event) => show(cellOf(event)))
  document.addEventListener('focusout', () => show(null))
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return show(null)
    const cell = cellOf(event)
    const target = cell === null ? null : neighbour(cell, event.key)
    if (cell === null || target === null) return
    event.preventDefault()
    cell.tabIndex = -1
    target.tabIndex = 0
    target.focus()
  })
}

function neighbour(cell: HTMLElement, key: string): HTMLElement | null {
  const { parentElement } = cell
  const found = {
    ArrowLeft: cell.previousElementSibling,
    ArrowRight: cell.nextElementSibling,
    Home: parentElement?.firstElementChild,
    End: parentElement?.lastElementChild,
  }[key]
  return found instanceof HTMLElement ? found : null
}
