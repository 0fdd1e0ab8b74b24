import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { FileOutbox, maxQueued } from '../../src/notify/outbox.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { testNotification } from '../helpers/notifications.ts'

/** Opens the outbox of channel `ops` in a folder of its own, whose file is given. */
async function openOutbox(file?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'outbox-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'ops.json')
  if (file !== undefined) await writeFile(path, file)
  const lines: unknown[][] = []
  const log = { ...silentLog, info: (...line: unknown[]) => lines.push(line), warn: (...line: unknown[]) => lines.push(line) }
  const open = () => FileOutbox.open({ folder, channel: 'ops', log, clock: systemClock })
  const stored = async () => JSON.parse(await readFile(path, 'utf8')) as unknown
  return { folder, path, lines, open, stored, outbox: await open() }
}

it('stores what has been told, what waits and a value, and reads it again', async () => {
  const { outbox, open, stored, path, lines } = await openOutbox()
  expect([outbox.length, await outbox.isSender(), await outbox.value(), await outbox.told('a')]).toEqual([
    ...[0, true, undefined, undefined],
  ])
  const [first, second, third] = [testNotification(), testNotification(), testNotification()]
  expect(await outbox.commit('a', undefined, { down: 1 }, [first, second])).toBe(true)
  expect(await outbox.commit('b', undefined, { down: 2 }, [third])).toBe(true)
  expect(await outbox.commit('b', { down: 2 }, undefined, [])).toBe(true)
  expect([outbox.length, await outbox.told('a'), await outbox.told('b')]).toEqual([3, { down: 1 }, undefined])
  // They are returned once they are on disk.
  expect(await outbox.oldest(2)).toEqual([first, second])
  expect(await stored()).toEqual({ told: { a: { down: 1 } }, queue: [first, second, third] })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  await outbox.remove([first, third])
  expect(await stored()).toEqual({ told: { a: { down: 1 } }, queue: [second] })
  await outbox.setValue('42')
  expect(await outbox.value()).toBe('42')
  const next = await open()
  expect([await next.told('a'), await next.value(), await next.oldest(5), lines]).toEqual([{ down: 1 }, '42', [second], []])
})

it('ends when everything is on disk', async () => {
  const { outbox, stored } = await openOutbox()
  await outbox.commit('a', undefined, { down: 1 }, [])
  await outbox.close()
  expect(await stored()).toEqual({ told: { a: { down: 1 } }, queue: [] })
})

it('writes what changes during a write after it', async () => {
  const { outbox, stored } = await openOutbox()
  const writing = outbox.setValue('1')
  // Now the first write has begun.
  await Promise.resolve()
  await Promise.resolve()
  await Promise.all([writing, outbox.setValue('2')])
  expect(await stored()).toEqual({ told: {}, queue: [], value: '2' })
})

it('keeps at most as many as there is room for, and tells how many were dropped', async () => {
  const { outbox, open } = await openOutbox()
  const many = Array.from({ length: maxQueued + 2 }, () => testNotification())
  await outbox.commit('a', undefined, {}, many.slice(0, maxQueued - 1))
  await outbox.commit('a', undefined, {}, many.slice(maxQueued - 1))
  await outbox.commit('a', undefined, {}, [testNotification()])
  expect(outbox.length).toBe(maxQueued)
  await outbox.remove([])
  await outbox.remove(many.slice(0, maxQueued))
  expect(await outbox.oldest(2)).toEqual([
    expect.objectContaining({ error: '3 more notifications were dropped because too many were waiting' }),
  ])
  await outbox.remove([])
  expect([outbox.length, outbox.dropped, (await open()).length]).toEqual([1, 3, 1])
})

it('leaves out what is not valid in a file', async () => {
  const { id, ...withoutId } = testNotification()
  const { event, ...withoutEvent } = testNotification()
  const { text, ...withoutText } = testNotification()
  const { queuedAt, ...withoutTime } = testNotification()
  const valid = [testNotification(), testNotification()]
  const queue = [withoutId, valid[0], withoutEvent, withoutText, withoutTime, null, valid[1]]
  const { outbox, lines } = await openOutbox(JSON.stringify({ told: { a: { down: 1 }, b: 1 }, queue, value: 7 }))
  expect(await outbox.oldest(9)).toEqual(valid)
  expect([await outbox.told('a'), await outbox.told('b'), await outbox.value(), lines]).toEqual([
    ...[{ down: 1 }, undefined, undefined, []],
  ])
  const long = Array.from({ length: maxQueued + 1 }, () => testNotification())
  const full = await openOutbox(JSON.stringify({ told: {}, queue: long }))
  expect([full.outbox.length, (await full.outbox.oldest(1))[0]]).toEqual([maxQueued, long[0]])
})

it.each(['null', '{"told":[],"queue":{}}', '{"told":1,"queue":[]}', '{'])(
  'renames a file that is not valid: %s',
  async (file) => {
    const { folder, path, lines, stored, outbox } = await openOutbox(file)
    expect(await readdir(folder)).toEqual(['ops.json.unreadable'])
    const reason = file === '{' ? expect.stringContaining('JSON') : 'it has another form'
    expect(lines).toEqual([
      [{ file: path, reason }, 'cannot use the file of a notification channel; it has been renamed to end in .unreadable'],
    ])
    await outbox.setValue('1')
    expect(await stored()).toMatchObject({ value: '1' })
  },
)

it('leaves a file alone that cannot be read now', async () => {
  const { path, lines, open } = await openOutbox()
  await mkdir(path)
  const outbox = await open()
  await outbox.setValue('1')
  expect((await stat(path)).isDirectory()).toBe(true)
  expect(lines).toEqual([
    [
      { file: path, reason: 'EISDIR' },
      'cannot read the notifications that wait (EISDIR); new ones are not stored until the service is restarted',
    ],
  ])
})

it('says once that nothing can be stored, and when it can be again; tries once more at the end', async () => {
  const { outbox, folder, path, lines, stored } = await openOutbox()
  const failed = [
    { file: path, reason: 'ENOENT' },
    'cannot store the notifications (ENOENT); until that succeeds, they are lost if the service stops',
  ]
  await rm(folder, { recursive: true })
  await outbox.setValue('1')
  await outbox.setValue('2')
  expect(lines).toEqual([failed])
  await mkdir(folder)
  await outbox.setValue('3')
  await outbox.setValue('4')
  expect(lines).toEqual([failed, [{ file: path }, 'the notifications can be stored again']])
  await rm(folder, { recursive: true })
  await outbox.setValue('5')
  expect(lines).toHaveLength(3)
  await mkdir(folder)
  await outbox.close()
  expect(await stored()).toMatchObject({ value: '5' })
  // Nothing has changed since.
  await rm(folder, { recursive: true })
  await outbox.close()
  expect(lines).toHaveLength(4)
})

it('keeps everything in memory without a folder', async () => {
  const log = collectLog()
  const outbox = await FileOutbox.open({ channel: 'ops', log, clock: systemClock })
  const one = testNotification()
  await outbox.commit('a', undefined, { down: 1 }, [one])
  expect([await outbox.oldest(1), await outbox.told('a')]).toEqual([[one], { down: 1 }])
  expect(log.lines).toEqual([])
})
