import { cleanName } from './clean-text.ts'
import type { ViewContext } from './context.ts'
import { viewLogo } from './icons.ts'
import { h, type ViewElement } from './node.ts'

/** The bar at the top of every page. */
export function viewHeader({ texts, root, title }: ViewContext): ViewElement {
  const { connection, theme, themes } = texts
  return h(
    'header',
    { class: 'top' },
    h('a', { class: 'skip', href: '#main' }, texts.skip),
    h('a', { class: 'brand', href: root || './' }, viewLogo(), h('span', {}, h('bdi', {}, cleanName(title)))),
    h('p', { class: 'connection', id: 'connection', role: 'status', 'data-state': 'connecting' }, connection.connecting),
    h(
      'div',
      { class: 'tools' },
      h('a', { href: `${root}docs` }, texts.docs),
      h(
        'label',
        { class: 'theme' },
        h('span', { class: 'hidden' }, theme),
        h(
          'select',
          { id: 'theme' },
          Object.entries(themes).map(([value, name]) => h('option', { value }, name)),
        ),
      ),
    ),
  )
}

/** The notes on every page: that the data are simulated, and that notifications cannot be sent. */
export const viewNotices = ({ texts, isDemo = false, failingChannels = [] }: ViewContext): readonly ViewElement[] =>
  [...(isDemo ? [texts.demo] : []), ...(failingChannels.length > 0 ? [texts.channelsFail(failingChannels.join(', '))] : [])].map(
    (text) => h('p', { class: 'demo', role: 'note' }, text),
  )

/** Search, filters and order of the cards; shown only with JavaScript, which it needs. */
export function viewControls(groups: readonly string[], { texts }: ViewContext): ViewElement {
  const { controls } = texts
  return h(
    'form',
    { class: 'controls', role: 'search', 'aria-label': controls.label },
    h(
      'label',
      { class: 'search' },
      h('span', { class: 'hidden' }, controls.search),
      h('input', { type: 'search', id: 'search', placeholder: controls.searchHint, autocomplete: 'off', spellcheck: 'false' }),
    ),
    h('div', { class: 'chips', role: 'group', 'aria-label': controls.state, id: 'chips' }),
    h(
      'label',
      { class: 'pick', hidden: groups.length === 0 },
      h('span', {}, controls.group),
      h(
        'select',
        { id: 'group' },
        h('option', { value: '' }, controls.everyGroup),
        groups.map((group) => h('option', { value: group }, cleanName(group))),
      ),
    ),
    h(
      'label',
      { class: 'pick' },
      h('span', {}, controls.sort),
      h(
        'select',
        { id: 'sort' },
        Object.entries(controls.sorts).map(([value, name]) => h('option', { value }, name)),
      ),
    ),
    h('output', { id: 'count', class: 'count' }),
    h('button', { type: 'button', id: 'clear', class: 'chip', hidden: true }, controls.clear),
  )
}
