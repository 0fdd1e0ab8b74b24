import type { Look } from './look.ts'

/** Escapes a tag value of the line protocol; line breaks cannot be escaped. */
const tag = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[,= \\]/g, (special) => `\\${special}`)
const field = (text: string): string => `"${text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/["\\]/g, (special) => `\\${special}`)}"`

/** The measurement of one server. */
export interface Measurement {
  readonly host: string
  readonly port: number
  /** Seconds. */
  readonly responseTime: number
  readonly version?: string | undefined
  readonly online?: number | undefined
  readonly max?: number | undefined
  /** Absent if the server is up. */
  readonly error?: string | undefined
}

/** A line of the InfluxDB line protocol with the names of mc-monitor. @param wall Unix milliseconds */
export function measurementLine(measured: Measurement, wall: number): string {
  const { host, port, responseTime, version, online, max, error } = measured
  const time = `${BigInt(Math.round(wall)) * 1_000_000n}`
  const tags = `minecraft_status,host=${tag(host)},port=${port}`
  if (error !== undefined) return `${tags},status=error error=${field(error)},response_time=${responseTime} ${time}`
  const counts = Object.entries({ online, max }).flatMap(([name, value]) => (value === undefined ? [] : [`,${name}=${value}i`]))
  const versionTag = version ? `,version=${tag(version)}` : ''
  return `${tags},status=success${versionTag} response_time=${responseTime}${counts.join('')} ${time}`
}

export function telegrafLine({ address, snapshot, failure }: Look): string {
  const { rawStatus, version, playersOnline, playersMax } = snapshot.fields
  const { host, port } = address
  return measurementLine(
    {
      ...{ host, port, responseTime: snapshot.pollDuration ?? 0 },
      version: rawStatus?.value.version || version?.value,
      online: playersOnline?.value,
      max: playersMax?.value,
      error: failure?.message,
    },
    Date.now(),
  )
}
