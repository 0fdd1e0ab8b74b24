import type { ViewContext } from './context.ts'
import { h, type ViewElement } from './node.ts'

/** A relative time that the code in the browser keeps up to date: `3 minutes ago`. */
export const viewRelative = (at: number, { format, now }: ViewContext): ViewElement =>
  h('time', { datetime: new Date(at).toISOString(), title: format.dateTime(at), 'data-relative': at }, format.relative(at, now))
