import uPlot from 'uplot'
import type { PlayerCounts } from '../../history/values/overview.ts'
import { cleanName } from '../view/clean-text.ts'
import { middleOf, peakText } from '../view/graph.ts'
import { h } from '../view/node.ts'
import { viewDataTable } from '../view/parts.ts'
import type { PageServer } from '../view/types.ts'
import { axesOf, color, points } from './chart-options.ts'
import { contextNow } from './chrome.ts'
import { create, createSlot, openTable } from './dom.ts'
import { loadEvery, loadJson, serviceTime } from './request.ts'

/** A line of the graph. */
interface Line {
  /** Null: all servers together. */
  readonly server: string | null
  readonly players: readonly (number | null)[]
}

/** Time after which the recorded values are loaded again, and the current ones drawn again, ms. */
const [reloadAfter, redrawAfter] = [60_000, 5_000]
const hour = 3_600_000

/** Turned by the golden angle each time, so that all differ. */
const strokeOf = (index: number, isDark: boolean): string =>
  `hsl(${Math.round(255 + index * 137.5) % 360} 65% ${(isDark ? 66 : 38) + (index % 3) * 5}%)`

/**
 * The players of all servers, each a line that can be hidden. Loaded after the rest of the page.
 * @param hasAll true if every server has a line: the total, which would flatten these, is then hidden at first
 */
export function createGraph(place: HTMLElement, hasAll: boolean) {
  const find = (selector: string) => place.querySelector<HTMLElement>(selector) ?? place
  const [target, readout, list] = [find('.plot'), find('.readout'), find('.lines')]
  const drawList = createSlot(list)
  /** Lines that are hidden although they are shown at first, or the opposite. */
  const toggled = new Set<string | null>()
  let loaded: PlayerCounts | undefined
  let lines: readonly Line[] = []
  let colors: readonly string[] = []
  let plot: uPlot | undefined
  let current = new Map<string | null, number | null>()
  let updatedAt = 0
  /** The line at the pointer. */
  let focused: number | null = null

  const nameOf = (server: string | null) => (server === null ? contextNow().texts.graph.all : cleanName(server))
  const isShown = ({ server }: Line) => toggled.has(server) !== (server !== null || !hasAll)

  /** Values for uPlot: seconds, then each line. The last ones are the current ones. */
  function columns(counts: PlayerCounts): uPlot.AlignedData {
    const now = serviceTime()
    const middles = counts.total.map((_, index) => middleOf(counts, index, now) / 1000)
    const values = lines.map(({ server, players }) => {
      const now = current.get(server) ?? null
      // The step that is not over is recorded a minute late.
      return [...players.slice(0, -1), players.at(-1) ?? now, now]
    })
    return [[...middles, Math.max(now / 1000, ...middles.slice(-1))], ...values] as uPlot.AlignedData
  }

  function showReadout(): void {
    const context = contextNow()
    const { texts, format } = context
    const { graph } = texts
    const index = plot?.cursor.idx ?? null
    const line = focused === null ? undefined : lines[focused - 1]
    const value = plot === undefined || focused === null || index === null ? null : plot.data[focused]?.[index]
    if (line !== undefined && typeof value === 'number') {
      const at = (plot?.data[0][index ?? 0] ?? 0) * 1000
      readout.textContent = graph.point(nameOf(line.server), format.integer(value), format.time(at))
    } else readout.textContent = loaded === undefined ? texts.summary.noPeak : peakText(loaded, context)
  }

  /** The names of the lines with their values, at the pointer or now. */
  function showList(): void {
    const { texts, format } = contextNow()
    const index = plot?.cursor.idx ?? null
    const isAnyShown = lines.some(isShown)
    drawList(
      h('div', {}, [
        lines.map((line, position) => {
          const value =
            (index === null ? undefined : plot?.data[position + 1]?.[index]) ?? (index === null ? current.get(line.server) : null)
          return h(
            'button',
            { type: 'button', 'aria-pressed': String(isShown(line)), 'data-line': position, title: nameOf(line.server) },
            [
              h('i', { style: { background: colors[position] ?? '' } }),
              h('span', {}, h('bdi', {}, nameOf(line.server))),
              h('b', {}, format.integer(value ?? null)),
            ],
          )
        }),
        lines.length > 2 &&
          h('button', { type: 'button', 'data-line': 'all' }, isAnyShown ? texts.graph.hideAll : texts.graph.showAll),
      ]),
    )
  }

  function optionsOf({ from, step, total }: PlayerCounts): uPlot.Options {
    const [time, values] = axesOf(true, 2)
    const first = total.findIndex((count) => count !== null)
    return {
      ...sizeOf(target),
      legend: { show: false },
      focus: { alpha: 0.25 },
      cursor: { y: false, drag: { x: false, y: false }, focus: { prox: 40 }, points: { size: 6 } },
      scales: {
        // Of a service that has just been started, the last hour.
        x: { range: (_, __, end) => [Math.min(first < 0 ? end : (from + first * step) / 1000, end - hour / 1000), end] },
        y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.1)] },
      },
      axes: [time, values],
      series: [
        {},
        ...lines.map((line, index) => ({
          stroke: colors[index] ?? time.stroke,
          ...(line.server === null && { fill: color('--accent-soft') }),
          width: line.server === null ? 2 : 1.5,
          show: isShown(line),
          points,
        })),
      ],
      hooks: {
        setCursor: [showReadout, showList],
        setSeries: [
          (_, series) => {
            focused = series
            showReadout()
          },
        ],
      },
    }
  }

  /** Fills the table, newest first, if it is open. */
  function showTable(): void {
    const table = openTable(place, 'graph')
    if (table === null || loaded === undefined) return
    const { texts, format } = contextNow()
    const { from, step, total } = loaded
    const rows = total.flatMap((_, index) => {
      const values = lines.map(({ players }) => players[index] ?? null)
      if (values.every((value) => value === null)) return []
      return [[format.dateTime(from + index * step), ...values.map(format.integer)]]
    })
    const columns = [texts.server.time, ...lines.map(({ server }) => nameOf(server))]
    table.replaceChildren(create(viewDataTable(`${texts.graph.title}: ${texts.graph.all}`, columns, rows.toReversed())))
  }

  function draw(): void {
    plot?.destroy()
    plot = undefined
    focused = null
    if (loaded === undefined) return
    const { total, servers } = loaded
    lines = [
      ...(servers.length > 1 ? [{ server: null, players: total }] : []),
      ...servers.map(({ server, players }) => ({ server, players })),
    ]
    // Light text is on a dark ground.
    const isDark = Number(/\d+/.exec(color('--text'))?.[0]) > 128
    colors = lines.map(({ server }, index) => (server === null ? color('--accent') : strokeOf(index, isDark)))
    target.replaceChildren()
    plot = new uPlot(optionsOf(loaded), columns(loaded), target)
    plot.root.setAttribute('role', 'img')
    showReadout()
    plot.root.setAttribute('aria-label', `${contextNow().texts.graph.title}: ${readout.textContent}`)
    showList()
    showTable()
  }

  async function load(): Promise<void> {
    const next = await loadJson<PlayerCounts>('page/graph')
    if (next === undefined) {
      if (loaded === undefined) readout.textContent = contextNow().texts.graph.failed
      return
    }
    loaded = next
    draw()
  }

  const lineOf = ({ target }: Event) => (target as Element).closest<HTMLElement>('[data-line]')?.dataset.line
  list.addEventListener('click', (event) => {
    const chosen = lineOf(event)
    if (chosen === undefined) return
    const changed =
      chosen === 'all'
        ? lines.filter((line) => isShown(line) === lines.some(isShown))
        : lines.filter((_, index) => index === Number(chosen))
    for (const { server } of changed) if (!toggled.delete(server)) toggled.add(server)
    for (const [index, line] of lines.entries()) plot?.setSeries(index + 1, { show: isShown(line) })
    showList()
  })
  const focus = (event: Event) => {
    const line = event.type === 'pointerover' || event.type === 'focusin' ? Number(lineOf(event)) : Number.NaN
    const own = lines[line]
    plot?.setSeries(own !== undefined && isShown(own) ? line + 1 : null, { focus: true })
  }
  for (const type of ['pointerover', 'pointerleave', 'focusin', 'focusout']) list.addEventListener(type, focus)
  new ResizeObserver(() => {
    if (plot !== undefined && target.clientWidth > 0 && target.clientWidth !== plot.width) plot.setSize(sizeOf(target))
  }).observe(target)
  place.addEventListener('toggle', showTable, true)
  addEventListener('themechange', draw)
  loadEvery(reloadAfter, load)

  return {
    /** Shows the current values after the recorded ones. @param players of all servers; null if unknown */
    update(servers: readonly PageServer[], players: number | null): void {
      current = new Map([
        [null, players],
        ...servers.map(({ name, state }) => [name, state.up === true ? state.online : null] as const),
      ])
      if (loaded === undefined || plot === undefined || Date.now() - updatedAt < redrawAfter) return
      updatedAt = Date.now()
      plot.setData(columns(loaded))
      showList()
    },
  }
}

const sizeOf = ({ clientWidth, clientHeight }: Element) => ({ width: clientWidth, height: clientHeight })

export type Graph = ReturnType<typeof createGraph>
