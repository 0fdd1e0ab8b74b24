import { cleanName, cleanText } from '../view/clean-text.ts'
import { type HealthName, healthNames, healthOf } from '../view/health.ts'
import type { PageServer } from '../view/types.ts'
import { contextNow } from './chrome.ts'
import { required } from './dom.ts'

type Filter = HealthName | 'all'

const collator = new Intl.Collator(navigator.languages as string[], { numeric: true, sensitivity: 'base' })

const text = ({ name, group, address, state }: PageServer): string =>
  [name, group, address, state.version, state.software, state.motd]
    .map((part) => cleanText(part ?? ''))
    .join('\n')
    .toLowerCase()

/** Search, filters and order of the servers. */
export function createControls(onChange: () => void) {
  const [search, sort, group] = [
    required<HTMLInputElement>('search'),
    required<HTMLSelectElement>('sort'),
    required<HTMLSelectElement>('group'),
  ]
  const [chips, count, clear] = [required('chips'), required('count'), required<HTMLButtonElement>('clear')]
  let filter: Filter = 'all'
  const parameters = new URLSearchParams(location.search)
  search.value = parameters.get('q') ?? ''
  if (parameters.has('sort')) sort.value = parameters.get('sort') ?? ''
  if (sort.selectedIndex < 0) sort.selectedIndex = 0
  // A group that no longer exists would hide every server.
  group.value = parameters.get('group') ?? ''
  if (group.selectedIndex < 0) group.selectedIndex = 0
  const requested = parameters.get('state') as Filter | null
  if (requested !== null && healthNames.includes(requested as HealthName)) filter = requested

  /** The address can be shared, and the browser's back button restores the view. */
  function remember(): void {
    const next = new URLSearchParams()
    if (search.value !== '') next.set('q', search.value)
    if (filter !== 'all') next.set('state', filter)
    if (sort.selectedIndex > 0) next.set('sort', sort.value)
    if (group.value !== '') next.set('group', group.value)
    const query = next.toString()
    history.replaceState(null, '', query === '' ? location.pathname : `?${query}`)
  }
  const changed = () => {
    remember()
    onChange()
  }
  for (const control of [search, sort, group]) control.addEventListener('input', changed)
  clear.addEventListener('click', () => {
    search.value = ''
    group.value = ''
    filter = 'all'
    changed()
    search.focus()
  })
  search.closest('form')?.addEventListener('submit', (event) => event.preventDefault())
  document.addEventListener('keydown', (event) => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault()
      search.focus()
    }
  })
  chips.addEventListener('click', ({ target }) => {
    const name = (target as Element).closest<HTMLElement>('[data-filter]')?.dataset.filter
    if (name === undefined) return
    filter = name as Filter
    changed()
  })

  const healthByServer = (server: PageServer) => {
    const { texts, format } = contextNow()
    return healthOf(server, texts, format)
  }

  function showChips(servers: readonly PageServer[]): void {
    const { texts, format } = contextNow()
    const counts = new Map<Filter, number>([['all', servers.length]])
    for (const server of servers) {
      const { name } = healthByServer(server)
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    const wanted = (['all', ...healthNames] as const).filter((name) => name === filter || (counts.get(name) ?? 0) > 0)
    const existing = new Map([...chips.children].map((chip) => [(chip as HTMLElement).dataset.filter, chip as HTMLElement]))
    const shown = wanted.map((name) => {
      const chip = existing.get(name) ?? document.createElement('button')
      chip.setAttribute('type', 'button')
      chip.className = `chip ${name}`
      chip.dataset.filter = name
      chip.setAttribute('aria-pressed', String(name === filter))
      const label = `${name === 'all' ? texts.all : texts.states[name]} ${format.integer(counts.get(name) ?? 0)}`
      if (chip.textContent !== label) chip.textContent = label
      return chip
    })
    if (shown.length !== chips.children.length || shown.some((chip, index) => chips.children[index] !== chip)) {
      const focused = document.activeElement
      chips.replaceChildren(...shown)
      if (focused instanceof HTMLElement && chips.contains(focused)) focused.focus()
    }
  }

  const orders: Readonly<Record<string, (a: PageServer, b: PageServer) => number>> = {
    attention: (a, b) => healthByServer(a).rank - healthByServer(b).rank,
    order: () => 0,
    name: (a, b) => collator.compare(a.name, b.name),
    players: (a, b) => (b.state.online ?? -1) - (a.state.online ?? -1),
    ticks: (a, b) => (b.state.tickTimeMean ?? -1) - (a.state.tickTimeMean ?? -1),
  }

  function arrange(servers: readonly PageServer[]) {
    const { texts, format } = contextNow()
    showChips(servers)
    const words = search.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    const matching = servers.filter((server) => {
      if (group.value !== '' && server.group !== group.value) return false
      if (filter !== 'all' && healthByServer(server).name !== filter) return false
      const all = words.length === 0 ? '' : text(server)
      return words.every((word) => all.includes(word))
    })
    const sorted = matching.toSorted(orders[sort.value] ?? (() => 0))
    const label =
      sorted.length === 0
        ? servers.length === 0
          ? texts.controls.empty
          : texts.controls.none
        : texts.controls.shown(format.integer(sorted.length), format.integer(servers.length))
    if (count.textContent !== label) count.textContent = label
    clear.hidden = sorted.length > 0 || servers.length === 0
    const titles = [...new Set(servers.map(({ group }) => group))]
    for (const title of titles) {
      if (title !== null && ![...group.options].some(({ value }) => value === title))
        group.add(new Option(cleanName(title), title))
    }
    group.closest<HTMLElement>('.pick')?.toggleAttribute(
      'hidden',
      titles.every((title) => title === null),
    )
    if (titles.length < 2 && titles[0] === null) return [{ title: '', servers: sorted }]
    return titles
      .toSorted((a, b) => Number(a === null) - Number(b === null))
      .map((title) => ({
        title: title === null ? texts.controls.noGroup : cleanName(title),
        servers: sorted.filter(({ group }) => group === title),
      }))
      .filter(({ servers }) => servers.length > 0)
  }

  return { arrange, followsState: () => filter !== 'all' || sort.value !== 'order' }
}
