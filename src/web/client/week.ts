import type { WeekOfPlayers } from '../view/types.ts'
import { unknownWeek, viewWeek, viewWeekTable, weekHours } from '../view/week.ts'
import { contextNow } from './chrome.ts'
import { create, createSlot, openTable } from './dom.ts'
import { loadEvery, loadJson } from './request.ts'

/** The hours of the week change slowly. Milliseconds. */
const reloadAfter = 600_000

/** Loads the players of each hour of the week, again while the page is open. @param path of the data */
export function createWeek(place: HTMLElement, path: string): void {
  const draw = createSlot(place)
  let week = unknownWeek

  const showTable = () => openTable(place, 'week')?.replaceChildren(create(viewWeekTable(week, contextNow())))

  async function load(): Promise<void> {
    const loaded = await loadJson<WeekOfPlayers>(path)
    if (loaded === undefined) return
    week = weekHours(loaded)
    draw(viewWeek(week, contextNow()))
    showTable()
  }

  place.addEventListener('toggle', showTable, true)
  loadEvery(reloadAfter, load)
}
