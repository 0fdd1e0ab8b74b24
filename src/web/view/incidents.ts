import { cleanName, cleanText } from './clean-text.ts'
import { serverPath, type ViewContext } from './context.ts'
import { textOfCode } from './health.ts'
import { h, type ViewElement } from './node.ts'
import { viewBadge, viewRelative } from './parts.ts'
import type { ServerDetails, ShownIncident } from './types.ts'

/** Maximum number of incidents listed. */
export const maxIncidents = 20

const dayMs = 86_400_000

const states = { down: 'down', hung: 'hung', lag: 'lagging' } as const

/** Why, or how much. Empty if that is not known. */
function detailText({ kind, detail }: ShownIncident, { texts, format }: ViewContext): string {
  if (detail === null) return ''
  return kind === 'lag' ? texts.server.lowestRate(format.decimal(Number(detail))) : textOfCode(detail, texts.reasons)
}

const lengthText = ({ from, to, ongoing }: ShownIncident, { texts: { server }, format }: ViewContext): string =>
  to !== null ? server.incidentEnded(format.duration(to - from)) : ongoing === true ? server.incidentOpen : server.incidentUnknown

/** The incidents that touch a UTC day, one after the other. @param date `2026-11-21` */
export function incidentsOfDay(incidents: readonly ShownIncident[], date: string, context: ViewContext): string {
  const start = Date.parse(`${date}T00:00:00Z`)
  const { texts, format, now } = context
  return incidents
    .filter(({ from, to, ongoing }) => from < start + dayMs && (to ?? (ongoing === true ? now : from)) >= start)
    .toReversed()
    .map((incident) => {
      const { from, kind } = incident
      const began = from < start ? format.dateTime(from) : format.time(from)
      return `${began} ${texts.states[states[kind]]}, ${lengthText(incident, context)}`
    })
    .join('; ')
}

/** What was wrong with a server in the last 90 days. Absent if nothing was. */
export function viewIncidents({ server, incidents }: ServerDetails, context: ViewContext): ViewElement | undefined {
  const { texts, format, root } = context
  if (incidents.length === 0) return undefined
  return h('section', { class: 'panel incidents' }, [
    h('div', { class: 'line' }, [
      h('h2', {}, texts.server.incidents),
      h(
        'a',
        {
          href: `${serverPath(root, server.name)}/incidents.atom`,
          type: 'application/atom+xml',
          'aria-label': `${texts.server.incidents} – ${cleanName(server.name)}: ${texts.server.incidentFeed}`,
        },
        [texts.server.incidentFeed],
      ),
    ]),
    h('ol', {}, [
      incidents.map((incident) =>
        h('li', {}, [
          viewBadge(states[incident.kind], context),
          h('b', {}, `${format.dateTime(incident.from)}, ${lengthText(incident, context)}`),
          h('span', {}, detailText(incident, context)),
          incident.notes.map(({ at, text }) =>
            h('p', { class: 'note' }, [h('bdi', {}, cleanText(text)), ' ', viewRelative(at, context)]),
          ),
        ]),
      ),
    ]),
  ])
}
