import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SourceError } from '../../../src/game/errors.ts'
import type { FieldName } from '../../../src/game/fields.ts'
import { precedence } from '../../../src/game/merge.ts'
import type { SourceName } from '../../../src/game/sources/names.ts'
import type { Source, SourceContext } from '../../../src/game/sources/source.ts'
import { type Clock, systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'
import { until } from '../../helpers/until.ts'

/** A peer and how a source of it is made. */
export interface Subject {
  readonly make: (context: SourceContext) => Source
  readonly close: () => unknown
}

export interface SourceSuite {
  readonly good: () => Promise<Subject>
  /** A peer that answers immediately, for many cycles; default: the valid one. */
  readonly quick?: () => Promise<Subject>
  /** A peer that answers only partly, and the fields that must still be read. Omitted by a source that reads everything or nothing. */
  readonly partial?: () => Promise<Subject & { readonly fields: object }>
  /** Peers that never answer; a folder always does. */
  readonly silent?: () => Promise<Subject>
  readonly hostile: Readonly<Record<string, () => Promise<Subject>>>
}

const deadline = 300
/** Enough that what is only compiled meanwhile, about 250 kB, is small compared with a leak of 4 kB per cycle. */
const cycles = 300

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** The system clock, which counts the timers. */
function countingClock(): Clock & { readonly pending: () => number } {
  const pending = new Set<object>()
  return {
    ...systemClock,
    pending: () => pending.size,
    after(delay, action) {
      const timer = {}
      pending.add(timer)
      const cancel = systemClock.after(delay, () => {
        pending.delete(timer)
        action()
      })
      return () => {
        pending.delete(timer)
        cancel()
      }
    },
  }
}

const openSockets = () =>
  process.getActiveResourcesInfo().filter((type) => /^(TCPSocketWrap|UDPWRAP|TLSWrap|PipeWrap)$/.test(type)).length

/** The contract of every source: see `Source`. */
export function testSource(name: SourceName, { good, quick = good, partial, silent, hostile }: SourceSuite): void {
  describe(`${name}, as every source`, () => {
    let clock: ReturnType<typeof countingClock>
    let context: SourceContext
    /** Number of replies and files that were read within `measure`. */
    let measured: number
    let subject: Subject | undefined
    const sources: Source[] = []

    beforeEach(() => {
      clock = countingClock()
      measured = 0
      const measure = <T>(read: () => T): T => {
        measured++
        return read()
      }
      context = { clock, log: silentLog, random: () => 0.5, push() {}, measure }
    })
    afterEach(async () => {
      for (const source of sources.splice(0)) source.close()
      await subject?.close()
      subject = undefined
    })

    function made(from: Subject): Source {
      subject = from
      const source = from.make(context)
      sources.push(source)
      return source
    }

    /** One poll as the watcher makes it. */
    async function poll(source: Source) {
      const ending = new AbortController()
      const late = setTimeout(() => ending.abort(new SourceError('timeout', `${source.target}: late`)), deadline)
      try {
        return await source.poll(ending.signal)
      } finally {
        clearTimeout(late)
      }
    }

    it('returns a reading under its name', async () => {
      const source = made(await good())
      const before = clock.now()
      const reading = await source.poll(new AbortController().signal)
      expect(source.name).toBe(name)
      expect(reading.source).toBe(name)
      expect(measured, 'readings within `measure`').toBeGreaterThan(0)
      expect(Object.keys(reading.fields).length).toBeGreaterThan(0)
      expect(reading.at).toBeGreaterThanOrEqual(before)
      expect(reading.at).toBeLessThanOrEqual(clock.now())
      for (const time of Object.values(reading.readAt ?? {})) expect(time).toBeLessThanOrEqual(reading.at)
      expect(Object.values(reading.fields)).not.toContain(undefined)
      for (const field of Object.keys(reading.fields)) expect(precedence[field as FieldName], field).toContain(name)
    })

    if (partial !== undefined) {
      it('returns the part that it can read', async () => {
        const peer = await partial()
        const { fields } = await made(peer).poll(new AbortController().signal)
        expect(fields).toMatchObject(peer.fields)
      })
    }

    it('honours a signal that is aborted already, and may be closed twice', async () => {
      const source = made(await good())
      const reason = new SourceError('aborted', 'no longer wanted')
      await expect(source.poll(AbortSignal.abort(reason))).rejects.toBe(reason)
      source.close()
      source.close()
      expect(clock.pending()).toBe(0)
    })

    if (silent !== undefined) {
      it('ends at its deadline, and names the target', async () => {
        const source = made(await silent())
        await expect(poll(source)).rejects.toMatchObject({ name: 'SourceError', code: 'timeout' })
      })

      it('ends a running poll when it is aborted', async () => {
        const source = made(await silent())
        const ending = new AbortController()
        const aborted = expect(source.poll(ending.signal)).rejects.toMatchObject({ code: 'aborted' })
        ending.abort(new SourceError('aborted', 'no longer wanted'))
        await aborted
        source.close()
        await until(() => clock.pending() === 0)
      })
    }

    it.each(Object.keys(hostile))('survives a peer that %s, with an error that names it', async (label) => {
      const source = made(await hostile[label]!())
      for (let attempt = 0; attempt < 2; attempt++) {
        const error = await poll(source).then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        expect(error).toBeInstanceOf(SourceError)
        const { code, message } = error as SourceError
        expect(code).not.toBe('internal')
        expect(message).toContain(source.target.replace(/^wss?:\/\//, ''))
      }
      source.close()
      await until(() => clock.pending() === 0)
    })

    it(`leaks no socket, timer or memory in ${cycles} cycles`, async () => {
      const peer = await quick()
      subject = peer
      const cycle = async () => {
        const source = peer.make(context)
        await source.poll(new AbortController().signal)
        source.close()
      }
      const run = async (count: number) => {
        for (let done = 0; done < count; done++) await cycle()
        expect(clock.pending()).toBe(0)
        collectGarbage()
        return process.memoryUsage().heapUsed
      }
      const socketsBefore = openSockets()
      const before = await run(300)
      const after = await run(cycles)
      // Closed connections are counted until the kernel has reported them.
      await until(() => openSockets() <= socketsBefore)
      expect((after - before) / cycles).toBeLessThan(4096)
    })
  })
}
