import type { ViewContext } from './context.ts'
import { h, type ViewElement } from './node.ts'

/** A moment that the browser's code keeps up to date: `3 minutes ago`. */
export const viewRelative = (at: number, { format, now }: ViewContext): ViewElement =>
  h('time', { datetime: new Date(at).toISOString(), title: format.dateTime(at), 'data-relative': at }, format.relative(at, now))
