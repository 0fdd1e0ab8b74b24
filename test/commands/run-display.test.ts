import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createRunDisplay } from '../../src/commands/run-display.ts'
import { fastClock } from '../helpers/fast-clock.ts'
import { until } from '../helpers/until.ts'

function open(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 200 })
  let text = ''
  stream.on('data', (chunk) => {
    text += chunk
  })
  return { display: createRunDisplay({ parts: 'songs' }, stream, stream, fastClock(0, 20)), text: () => text }
}

it('counts a wait for a rate limit down on a terminal, until the next part', async () => {
  const { display, text } = open(true)
  display.progress.total(3)
  display.progress.step('one')
  display.progress.wait('Last.fm', 590_000)
  const isCounted = (shown: () => string) => {
    const times = [...shown().matchAll(/Last\.fm: rate limited, ((?:\d min )?\d+ s) left/g)].map(([, time]) => time)
    return new Set(times).size >= 3
  }
  await until(() => isCounted(text))
  display.progress.step('two')
  await until(() => text().includes('two'))
  const shown = text().lastIndexOf('rate limited')
  // Another one goes on.
  const other = open(true)
  other.display.progress.total(1)
  other.display.progress.step('one')
  other.display.progress.wait('Last.fm', 590_000)
  await until(() => isCounted(other.text))
  other.display.stop()
  expect(text().lastIndexOf('rate limited')).toBe(shown)
  display.stop()
})

it('prints the length of the wait without a terminal', () => {
  const { display, text } = open(false)
  display.progress.wait('Reddit', 61_000)
  display.stop()
  expect(text()).toBe('Reddit: rate limited, waiting 1 min 01 s\n')
})

it('prints a warning below the progress bar, and no line twice', () => {
  const { display, text } = open(true)
  display.progress.total(2)
  display.progress.step('one')
  display.log.warn({}, 'a warning that is longer than the terminal')
  expect(text()).not.toContain('a warning')
  display.progress.step('two')
  display.stop()
  const end = text().slice(text().lastIndexOf('2/2'))
  expect(end.match(/a warning that is longer than the terminal\n/g)).toHaveLength(1)
})
