import { arrange, type Choice, defaultChoice, type Filter, groupsOf, type Section, type Sort } from '../view/arrange.ts'
import type { Density } from '../view/card.ts'
import { cleanName } from '../view/clean-text.ts'
import { healthNames } from '../view/health.ts'
import { viewChips } from '../view/layout.ts'
import type { PageServer } from '../view/types.ts'
import { contextNow } from './chrome.ts'
import { createSlot, required } from './dom.ts'
import { storeChoice } from './storage.ts'

/** Search, filters, order and density of the servers. They are kept in the address, which can be shared. */
export function createControls(onChange: () => void) {
  const search = required<HTMLInputElement>('search')
  const [sort, group] = [required<HTMLSelectElement>('sort'), required<HTMLSelectElement>('group')]
  const [chips, switches] = [required('chips'), required('density')]
  const [count, clear] = [required('count'), required<HTMLButtonElement>('clear')]
  const drawChips = createSlot(chips)
  const root = document.documentElement.dataset
  const parameters = new URLSearchParams(location.search)
  let state: Filter = healthNames.find((name) => name === parameters.get('state')) ?? defaultChoice.state
  search.value = parameters.get('q') ?? ''
  sort.value = parameters.get('sort') ?? defaultChoice.sort
  if (sort.selectedIndex < 0) sort.selectedIndex = 0
  // A group that no longer exists would hide every server.
  group.value = parameters.get('group') ?? ''
  if (group.selectedIndex < 0) group.selectedIndex = 0

  const choice = (): Choice => ({ search: search.value, state, group: group.value, sort: sort.value as Sort })
  const density = (): Density => (root.density === 'rows' ? 'rows' : 'cards')

  /** The browser's back button restores the view too. */
  function remember(): void {
    const next = new URLSearchParams()
    if (search.value !== '') next.set('q', search.value)
    if (state !== defaultChoice.state) next.set('state', state)
    if (sort.value !== defaultChoice.sort) next.set('sort', sort.value)
    if (group.value !== '') next.set('group', group.value)
    if (density() !== root.usualDensity) next.set('density', density())
    const query = next.toString()
    history.replaceState(null, '', query === '' ? location.pathname : `?${query}`)
  }
  const changed = () => {
    remember()
    onChange()
  }

  function showDensity(): void {
    for (const button of switches.querySelectorAll('button'))
      button.setAttribute('aria-pressed', String(button.dataset.density === density()))
  }
  showDensity()
  switches.addEventListener('click', ({ target }) => {
    const chosen = (target as Element).closest('button')?.dataset.density
    if (chosen === undefined) return
    root.density = chosen
    storeChoice('tickwarden-density', chosen)
    showDensity()
    changed()
  })
  for (const control of [search, sort, group]) control.addEventListener('input', changed)
  clear.addEventListener('click', () => {
    search.value = ''
    group.value = ''
    state = defaultChoice.state
    changed()
    search.focus()
  })
  search.closest('form')?.addEventListener('submit', (event) => event.preventDefault())
  chips.addEventListener('click', ({ target }) => {
    const name = (target as Element).closest<HTMLElement>('[data-filter]')?.dataset.filter
    if (name === undefined) return
    state = name as Filter
    changed()
  })

  function showGroups(servers: readonly PageServer[]): void {
    const groups = groupsOf(servers).filter((name) => name !== null)
    for (const name of groups)
      if (![...group.options].some(({ value }) => value === name)) group.add(new Option(cleanName(name), name))
    group.closest<HTMLElement>('.pick')?.toggleAttribute('hidden', groups.length === 0)
  }

  return {
    /** Shows how many servers are in each state. */
    show: (servers: readonly PageServer[]) => drawChips(viewChips(servers, state, contextNow())),
    /** The sections that are shown of the servers; also shows their number and groups. */
    arrange(servers: readonly PageServer[]): readonly Section[] {
      const context = contextNow()
      const { texts, format } = context
      const sections = arrange(servers, choice(), context)
      const shown = sections.reduce((sum, section) => sum + section.servers.length, 0)
      const label = shown === 0 ? texts.controls.none : texts.controls.shown(format.integer(shown), format.count(servers.length))
      const text = shown === servers.length ? '' : label
      if (count.textContent !== text) count.textContent = text
      clear.hidden = shown > 0 || servers.length === 0
      showGroups(servers)
      return sections
    },
    density,
    followsState: () => state !== defaultChoice.state || sort.value !== 'order',
  }
}
