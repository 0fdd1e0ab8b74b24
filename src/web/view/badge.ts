import type { ViewContext } from './context.ts'
import type { HealthName } from './health.ts'
import { h, type ViewElement } from './node.ts'

/** A state in words with its colour; the mark also has a different shape, for readers who cannot distinguish the colours. */
export const viewBadge = (name: HealthName, { texts }: ViewContext): ViewElement =>
  h('span', { class: `badge ${name}` }, h('span', { class: 'mark', 'aria-hidden': 'true' }), texts.states[name])
