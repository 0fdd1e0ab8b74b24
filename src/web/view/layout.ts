import { countStates, defaultChoice, type Filter, type Section } from './arrange.ts'
import { cleanName } from './clean-text.ts'
import type { ViewContext } from './context.ts'
import { viewLogo } from './icons.ts'
import { h, type ViewElement } from './node.ts'
import { viewBadge } from './parts.ts'
import type { PageServer } from './types.ts'

/** The bar at the top of every page. */
export function viewHeader({ texts, root, title, brand }: ViewContext): ViewElement {
  const { connection, theme, themes } = texts
  return h('header', { class: 'top' }, [
    h('a', { class: 'skip', href: '#main' }, texts.skip),
    h('a', { class: 'brand', href: root || './' }, [
      viewLogo(brand?.logo && root + brand.logo),
      h('span', {}, h('bdi', {}, cleanName(title))),
    ]),
    h('p', { class: 'connection', id: 'connection', role: 'status', 'data-state': 'connecting' }, connection.connecting),
    h('div', { class: 'tools' }, [
      h('a', { href: `${root}docs` }, texts.docs),
      h('label', { class: 'theme' }, [
        h('span', { class: 'hidden' }, theme),
        h('select', { id: 'theme' }, [Object.entries(themes).map(([value, name]) => h('option', { value }, name))]),
      ]),
    ]),
  ])
}

/** The text and links of the administrator; absent if there are none. */
export const viewFooter = ({ brand }: ViewContext): ViewElement | undefined => {
  const { footer, links = [] } = brand ?? {}
  return footer === undefined && links.length === 0
    ? undefined
    : h('footer', { class: 'foot' }, [
        footer !== undefined && h('p', {}, h('bdi', {}, footer)),
        links.map(({ label, href }) => h('a', { href, rel: 'noopener' }, h('bdi', {}, label))),
      ])
}

/** The notes on every page: that the data are simulated, and that notifications cannot be sent. */
export const viewNotices = ({ texts, isDemo = false, failingChannels = [] }: ViewContext): readonly ViewElement[] =>
  [...(isDemo ? [texts.demo] : []), ...(failingChannels.length > 0 ? [texts.channelsFail(failingChannels.join(', '))] : [])].map(
    (text) => h('p', { class: 'demo', role: 'note' }, text),
  )

/** The states with their number of servers; those without any are hidden, so that the others stay the same elements. */
export function viewChips(servers: readonly PageServer[], selected: Filter, context: ViewContext): ViewElement {
  const { texts, format } = context
  const chips = [...countStates(servers, context)].map(([name, count]) =>
    h(
      'button',
      {
        ...{ type: 'button', class: `chip ${name}`, 'data-filter': name, 'aria-pressed': String(name === selected) },
        hidden: count === 0 && name !== selected && name !== 'all',
      },
      [`${name === 'all' ? texts.all : texts.states[name]} ${format.integer(count)}`],
    ),
  )
  return h('div', { class: 'chips', role: 'group', 'aria-label': texts.controls.state }, chips)
}

/** Search, filters, order and density of the servers; shown only with JavaScript, which they need. */
export function viewControls(groups: readonly string[], context: ViewContext, servers: readonly PageServer[] = []): ViewElement {
  const { controls } = context.texts
  return h('form', { class: 'controls', role: 'search', 'aria-label': controls.label }, [
    h('label', { class: 'search' }, [
      h('span', { class: 'hidden' }, controls.search),
      h('input', { type: 'search', id: 'search', placeholder: controls.searchHint, autocomplete: 'off', spellcheck: 'false' }),
    ]),
    h('div', { class: 'switch', id: 'density', role: 'group', 'aria-label': controls.density }, [
      Object.entries(controls.densities).map(([value, name]) => h('button', { type: 'button', 'data-density': value }, name)),
    ]),
    h('div', { id: 'chips' }, viewChips(servers, defaultChoice.state, context)),
    h('label', { class: 'pick', hidden: groups.length === 0 }, [
      h('span', {}, controls.group),
      h('select', { id: 'group' }, [
        h('option', { value: '' }, controls.everyGroup),
        groups.map((group) => h('option', { value: group }, cleanName(group))),
      ]),
    ]),
    h('label', { class: 'pick' }, [
      h('span', {}, controls.sort),
      h('select', { id: 'sort' }, [Object.entries(controls.sorts).map(([value, name]) => h('option', { value }, name))]),
    ]),
    h('output', { id: 'count', class: 'count' }),
    h('button', { type: 'button', id: 'clear', class: 'chip', hidden: true }, controls.clear),
  ])
}

/** The heading of a section, which shows its worst state also while the section is collapsed. */
export const viewHeading = ({ title, servers, all, worst }: Section, context: ViewContext): ViewElement => {
  const { texts, format } = context
  const count = format.count(all)
  return h('summary', {}, [
    h('h2', {}, title),
    h('span', {}, [
      servers.length === all ? texts.controls.servers(count) : texts.controls.shown(format.integer(servers.length), count),
    ]),
    viewBadge(worst.name, context),
  ])
}
