import type { Section } from '../view/arrange.ts'
import { cardTitle, type Density, viewCard, viewPast } from '../view/card.ts'
import { serverPath } from '../view/context.ts'
import { viewHeading } from '../view/layout.ts'
import { h, type ViewElement } from '../view/node.ts'
import type { CardHistory, FleetPage, PageServer } from '../view/types.ts'
import { contextNow } from './chrome.ts'
import { create, createSlot } from './dom.ts'
import { loadHistories } from './histories.ts'

interface Card {
  readonly place: HTMLElement
  readonly show: (view: ViewElement) => void
  server: PageServer
  density: Density
  history?: CardHistory
  /** Rendered once per loaded history, because most elements of a card are its cells. */
  past?: ViewElement
  /** When the history was loaded, ms. */
  loadedAt: number
  inView: boolean
}

/** Age after which the history in a card is loaded again, ms, and after a change of the server's state. */
const [reloadAfter, reloadChangedAfter] = [300_000, 70_000]
/** Maximum number of servers per history request. */
const maxAtOnce = 50
/**
 * Cards per block. Blocks keep changes cheap: the browser observes, lays out and paints a few blocks, not a thousand cards. A
 * multiple of every number of columns (1 to 4), so that no block ends in the middle of a row.
 */
const blockSize = 12
/** The past that the server has rendered, shown until that of the reader's time zone is loaded. */
const renderedPast = h('i')

/**
 * The cards. Each is drawn when it comes into view and emptied when it is far from it, so that a page with thousands of servers
 * only has a few screens of elements.
 * @param rendered the cards of the first screen, which the server has rendered
 */
export function createCards(servers: readonly PageServer[], rendered: Element, onPeak: (peak: FleetPage['peak']) => void) {
  const cards = new Map<string, Card>()
  const dirty = new Set<Card>()
  const cardsOfBlock = new WeakMap<Element, readonly Card[]>()
  /** Keys of the sections that the reader has collapsed. */
  const collapsed = new Set<string>()
  const element = document.createElement('div')
  let loading = false
  const pastOf = new Map(
    [...rendered.querySelectorAll('.card')].map((card) => [
      card.querySelector('h3 a')?.getAttribute('href'),
      card.querySelector('.past'),
    ]),
  )

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries)
        for (const card of cardsOfBlock.get(target) ?? []) {
          if (card.inView === isIntersecting) continue
          card.inView = isIntersecting
          dirty.add(card)
        }
      draw()
      load()
    },
    { rootMargin: '600px 0px' },
  )

  function add(server: PageServer): void {
    const place = document.createElement('div')
    place.role = 'listitem'
    const past = pastOf.get(serverPath(contextNow().root, server.name))
    // The past of a card has times in UTC, that of a row has none.
    const isRow = past?.querySelector('.strip') != null
    const show = createSlot(place)
    show(past ? viewCard(server, renderedPast, contextNow(), isRow ? 'rows' : 'cards') : viewEmpty(server))
    if (past) place.querySelector(renderedPast.tag)?.replaceWith(past)
    const card: Card = {
      ...{ place, show, server, inView: past !== undefined },
      ...(isRow ? { density: 'rows', loadedAt: Date.now() } : { density: 'cards', loadedAt: 0 }),
      ...(past && { past: renderedPast }),
    }
    cards.set(server.name, card)
  }
  for (const server of servers) add(server)

  /** Before it comes into view, a card has only its name. */
  function viewEmpty(server: PageServer): ViewElement {
    return h('article', { class: 'card' }, cardTitle(server, contextNow()))
  }

  function draw(): void {
    const context = contextNow()
    for (const card of dirty) {
      if (!card.inView && card.past === renderedPast) {
        // Its elements are removed with the card.
        delete card.past
        card.loadedAt = 0
      }
      card.show(card.inView ? viewCard(card.server, card.past, context, card.density) : viewEmpty(card.server))
    }
    dirty.clear()
  }

  async function load(): Promise<void> {
    if (loading || document.hidden) return
    const now = Date.now()
    const due = [...cards.values()].filter(({ inView, loadedAt }) => inView && now - loadedAt > reloadAfter)
    const old = due.filter(({ density }) => density === due[0]?.density).slice(0, maxAtOnce)
    if (old.length === 0) return
    loading = true
    const names = old.map(({ server }) => server.name)
    const loaded = await loadHistories(names, old[0]?.density === 'cards')
    loading = false
    // The next call tries again; the page shows elsewhere that the service is unavailable.
    if (loaded === undefined) return
    onPeak(loaded.peak)
    for (const card of old) {
      const history = loaded.servers[card.server.name]
      // It is requested again.
      if (history === undefined) continue
      card.loadedAt = Date.now()
      // It has become a card since the request.
      if (card.density === 'cards' && history.days.length === 0) card.loadedAt = 0
      card.history = history
      drawPast(card)
    }
    requestAnimationFrame(draw)
    load()
  }
  setInterval(load, 5_000)
  addEventListener('beforeprint', () => {
    for (const card of cards.values()) {
      card.inView = true
      dirty.add(card)
    }
    draw()
  })

  function drawPast(card: Card): void {
    if (card.history === undefined || (card.density === 'cards' && card.history.days.length === 0)) return
    card.past = viewPast(card.server.name, card.history, contextNow(), card.density)
    dirty.add(card)
  }

  /** A row has only the last 24 hours of what a card has. */
  function setDensity(card: Card, density: Density): void {
    if (card.density === density) return
    card.density = density
    delete card.past
    drawPast(card)
    if (card.past === undefined) card.loadedAt = 0
    dirty.add(card)
  }

  function createBlock(members: readonly Card[]): HTMLElement {
    const block = document.createElement('div')
    block.className = 'cards lazy'
    block.role = 'none'
    block.style.setProperty('--count', String(members.length))
    block.append(...members.map(({ place }) => place))
    cardsOfBlock.set(block, members)
    return block
  }

  function createList(servers: readonly PageServer[], density: Density): HTMLElement {
    const members = servers.flatMap(({ name }) => cards.get(name) ?? [])
    for (const card of members) setDensity(card, density)
    const list = document.createElement('div')
    list.role = 'list'
    for (let first = 0; first < members.length; first += blockSize)
      list.append(createBlock(members.slice(first, first + blockSize)))
    return list
  }

  function createSection(section: Section, density: Density): HTMLElement {
    const list = createList(section.servers, section.isCompact ? 'rows' : density)
    list.classList.toggle('rows', section.isCompact)
    if (section.title === '') return list
    const details = document.createElement('details')
    details.open = !collapsed.has(section.key)
    details.append(create(viewHeading(section, contextNow())), list)
    details.addEventListener('toggle', () => {
      if (details.open) collapsed.delete(section.key)
      else collapsed.add(section.key)
    })
    return details
  }

  return {
    element,
    get: (name: string): PageServer | undefined => cards.get(name)?.server,
    all: (): readonly PageServer[] => [...cards.values()].map(({ server }) => server),
    /** Updates a server, or adds it, in which case it is shown after the next arrange(). */
    set(server: PageServer) {
      const card = cards.get(server.name)
      if (card === undefined) return add(server)
      // By then, the change has been written.
      if (card.server.state.up !== server.state.up)
        card.loadedAt = Math.min(card.loadedAt, Date.now() + reloadChangedAfter - reloadAfter)
      card.server = server
      if (card.inView) dirty.add(card)
    },
    delete(name: string): void {
      const card = cards.get(name)
      if (card === undefined) return
      cards.delete(name)
      dirty.delete(card)
      card.place.remove()
    },
    /** Shows these, in this order, under the headings of their sections. */
    arrange(sections: readonly Section[], density: Density): void {
      observer.disconnect()
      element.replaceChildren(...sections.map((section) => createSection(section, density)))
      draw()
      load()
      for (const block of element.querySelectorAll('.cards')) observer.observe(block)
    },
    /** Draws the changes. */
    draw,
  }
}
