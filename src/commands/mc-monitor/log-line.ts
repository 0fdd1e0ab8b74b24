/** A line as mc-monitor's logger writes it: JSON with a space after each colon and comma. */
export function logLine(level: string, message: string, values: Readonly<Record<string, string | readonly string[]>>): string {
  const text = (value: string | readonly string[]) =>
    typeof value === 'string' ? JSON.stringify(value) : `[${value.map((one) => JSON.stringify(one)).join(', ')}]`
  const pairs = Object.entries(values).map(([key, value]) => `${JSON.stringify(key)}: ${text(value)}`)
  return `${new Date().toISOString()}\t${level}\t${message}\t{${pairs.join(', ')}}`
}
