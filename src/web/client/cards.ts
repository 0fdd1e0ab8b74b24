import { cardTitle, viewCard } from '../view/card.ts'
import { healthOf } from '../view/health.ts'
import { h, type ViewElement } from '../view/node.ts'
import type { CardHistory, FleetPage, PageServer } from '../view/types.ts'
import { contextNow } from './chrome.ts'
import { create, patch } from './dom.ts'

interface Card {
  readonly place: HTMLElement
  server: PageServer
  history?: CardHistory
  /** When the history was loaded, ms. */
  loadedAt: number
  inView: boolean
  shown: { readonly node: Node; readonly view: ViewElement }
}

/** The past in a card is loaded again when it is this old, ms. */
const reloadAfter = 60_000
/** Servers whose past is asked for at once. */
const maxAtOnce = 50

export interface Cards {
  readonly element: HTMLElement
  get(name: string): PageServer | undefined
  all(): readonly PageServer[]
  /** Changes a server, or adds it: then it is shown after the next arrange(). */
  set(server: PageServer): void
  delete(name: string): void
  /** Shows these, in this order, under the headings of their groups. */
  arrange(groups: readonly { readonly title: string; readonly servers: readonly PageServer[] }[]): void
  /** Draws what has changed. */
  draw(): void
}

/**
 * The cards, each drawn when it comes into view and emptied when it is far from it: of thousands of servers only some screens of
 * elements exist.
 */
export function createCards(servers: readonly PageServer[], onPeak: (peak: FleetPage['peak']) => void): Cards {
  const cards = new Map<string, Card>()
  const dirty = new Set<Card>()
  const owners = new WeakMap<Element, Card>()
  const element = document.createElement('div')
  let loading = false

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const card = owners.get(target)
        if (card === undefined || card.inView === isIntersecting) continue
        card.inView = isIntersecting
        dirty.add(card)
      }
      draw()
      load()
    },
    { rootMargin: '600px 0px' },
  )

  function add(server: PageServer): void {
    const place = document.createElement('li')
    const view = viewEmpty(server)
    const node = create(view)
    place.append(node)
    const card: Card = { place, server, loadedAt: 0, inView: false, shown: { node, view } }
    owners.set(place, card)
    cards.set(server.name, card)
  }
  for (const server of servers) add(server)

  /** Before it is in view a card has its name only. */
  function viewEmpty(server: PageServer): ViewElement {
    return h('article', { class: 'card' }, cardTitle(server, contextNow()))
  }

  function draw(): void {
    const context = contextNow()
    for (const card of dirty) {
      // A card in which somebody moves with the keyboard stays as it is until they leave it.
      const view = card.inView ? viewCard(card.server, card.history, context) : viewEmpty(card.server)
      card.shown = { node: patch(card.shown.node, card.shown.view, view), view }
    }
    dirty.clear()
  }

  async function load(): Promise<void> {
    if (loading || document.hidden) return
    const now = Date.now()
    const old = [...cards.values()].filter(({ inView, loadedAt }) => inView && now - loadedAt > reloadAfter).slice(0, maxAtOnce)
    if (old.length === 0) return
    loading = true
    try {
      const names = old.map(({ server }) => encodeURIComponent(server.name)).join(',')
      const response = await fetch(`${contextNow().root}page/cards?servers=${encodeURIComponent(names)}`)
      if (!response.ok) return
      const { servers, peak } = (await response.json()) as { servers: Record<string, CardHistory>; peak: FleetPage['peak'] }
      onPeak(peak)
      for (const card of old) {
        const history = servers[card.server.name]
        card.loadedAt = Date.now()
        if (history === undefined) continue
        card.history = history
        dirty.add(card)
      }
      requestAnimationFrame(draw)
    } catch {
      // Asked for again with the next look; that the service is away shows elsewhere.
    } finally {
      loading = false
    }
    if (old.length === maxAtOnce) load()
  }
  setInterval(load, 5_000)

  return {
    element,
    get: (name) => cards.get(name)?.server,
    all: () => [...cards.values()].map(({ server }) => server),
    set(server) {
      const card = cards.get(server.name)
      if (card === undefined) return add(server)
      card.server = server
      if (card.inView) dirty.add(card)
    },
    delete(name) {
      const card = cards.get(name)
      if (card === undefined) return
      cards.delete(name)
      dirty.delete(card)
      observer.unobserve(card.place)
      card.place.remove()
    },
    arrange(groups) {
      observer.disconnect()
      const parts = groups.map(({ title, servers }) => {
        const list = document.createElement('ul')
        list.className = 'cards'
        list.append(...servers.flatMap(({ name }) => cards.get(name)?.place ?? []))
        if (title === '') return list
        const section = document.createElement('section')
        const heading = document.createElement('h2')
        heading.textContent = title
        section.append(heading, list)
        return section
      })
      element.replaceChildren(...parts)
      for (const { servers } of groups)
        for (const { name } of servers) {
          const place = cards.get(name)?.place
          if (place !== undefined) observer.observe(place)
        }
    },
    draw,
  }
}

/** The order of health, for sorting. */
export const rankOf = (server: PageServer): number => {
  const { texts, format } = contextNow()
  return healthOf(server, texts, format).rank
}
