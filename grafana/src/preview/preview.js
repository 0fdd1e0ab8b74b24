// Draws the panels of a dashboard from /data at their places in the grid, roughly as Grafana does.
const colours = ['#73bf69', '#f2cc0c', '#8ab8ff', '#ff780a', '#f2495c', '#5794f2', '#b877d9', '#705da0', '#37872d', '#fade2a']
const named = {
  green: '#73bf69',
  yellow: '#fade2a',
  orange: '#ff9830',
  red: '#f2495c',
  blue: '#5794f2',
  purple: '#b877d9',
  text: '#ccccdc',
  'light-blue': '#8ab8ff',
  'dark-red': '#c4162a',
  'semi-dark-purple': '#a352cc',
}
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}
const legendOf = (template, metric) =>
  template.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => metric[label] ?? '') || JSON.stringify(metric)

function format(value, { unit, decimals } = {}) {
  if (value === undefined || Number.isNaN(value)) return 'no data'
  const fixed = (number, digits) => number.toLocaleString('en', { maximumFractionDigits: decimals ?? digits })
  if (unit === 'percentunit') return `${fixed(value * 100, 1)} %`
  if (unit === 'bytes') return `${fixed(value / 2 ** 20, 1)} MiB`
  if (unit === 'bool_yes_no') return value ? 'Yes' : 'No'
  if (unit === 's') {
    if (Math.abs(value) < 1) return `${fixed(value * 1000, 2)} ms`
    return Math.abs(value) < 120
      ? `${fixed(value, 2)} s`
      : Math.abs(value) < 86400
        ? `${fixed(value / 3600, 1)} h`
        : `${fixed(value / 86400, 1)} d`
  }
  return fixed(value, 2)
}

/** Text and colour of a value by the mappings and thresholds of a field. */
function shown(value, field) {
  const mapping = (field.mappings ?? []).find(({ type, options }) => type === 'value' && options[String(value)])?.options[
    String(value)
  ]
  const unknown = value === undefined || Number.isNaN(value)
  const step = (field.thresholds?.steps ?? []).filter((one) => one.value == null || value >= one.value).at(-1)
  return {
    text: mapping?.text ?? format(value, field),
    colour: unknown ? '#8e8e9a' : (named[mapping?.color ?? step?.color] ?? '#ccccdc'),
  }
}

const last = (series) => Number(series.values.at(-1)?.[1] ?? Number.NaN)
const nothing = (panel) => element('div', { className: 'none', textContent: panel.fieldConfig?.defaults?.noValue ?? 'No data' })
const seriesOf = (results) =>
  results.flatMap(({ legend, series = [] }) => series.map((one) => ({ ...one, name: legendOf(legend, one.metric) })))

const draw = {
  stat(panel, results) {
    const all = seriesOf(results)
    if (all.length === 0) return nothing(panel)
    const nameOnly = panel.options?.textMode === 'name'
    return element(
      'div',
      { className: 'stats' },
      ...all.map((one) => {
        const { text, colour } = shown(last(one), panel.fieldConfig.defaults)
        const value = element('div', { className: 'stat', textContent: nameOnly ? one.name : text })
        value.style.color = colour
        if (!nameOnly && all.length > 1) value.append(element('small', { textContent: one.name }))
        return value
      }),
    )
  },
  table(panel, results) {
    const organize = panel.transformations?.find(({ id }) => id === 'organize')?.options ?? {}
    const by = panel.transformations?.find(({ id }) => id === 'joinByField')?.options.byField
    const overrides = Object.fromEntries(
      (panel.fieldConfig.overrides ?? []).map(({ matcher, properties }) => [
        matcher.options,
        Object.fromEntries(properties.map(({ id, value }) => [id, value])),
      ]),
    )
    if (results.every(({ series = [] }) => series.length === 0)) return nothing(panel)
    let titles
    let rows
    if (by === undefined) {
      const labels = Object.keys(organize.indexByName)
      titles = labels.map((label) => organize.renameByName[label])
      rows = results[0].series.map(({ metric }) => labels.map((label) => ({ text: metric[label] ?? '' })))
    } else {
      titles = [organize.renameByName[by], ...results.map(({ legend }) => legend)]
      const keys = [...new Set(results.flatMap(({ series = [] }) => series.map(({ metric }) => metric[by])))]
      rows = keys.map((key) => [
        { text: key },
        ...results.map(({ legend, series = [] }) => {
          const one = series.find(({ metric }) => metric[by] === key)
          return { value: one && last(one), ...shown(one && last(one), overrides[legend] ?? {}) }
        }),
      ])
      rows.sort((a, b) => (b[1]?.value ?? -1) - (a[1]?.value ?? -1))
    }
    const head = element('tr', {}, ...titles.map((title) => element('th', { textContent: title })))
    return element(
      'table',
      {},
      head,
      ...rows.map((cells) =>
        element(
          'tr',
          {},
          ...cells.map(({ text, colour }) => {
            const cell = element('td', { textContent: text })
            if (colour) cell.style.color = colour
            return cell
          }),
        ),
      ),
    )
  },
  'state-timeline'(panel, results, { from, to, step }) {
    const all = seriesOf(results)
    if (all.length === 0) return nothing(panel)
    return element(
      'div',
      {},
      ...all.map((one) => {
        const lane = element('div')
        for (const [time, value] of one.values) {
          const { text, colour } = shown(Number(value), panel.fieldConfig.defaults)
          const piece = element('i', { title: text })
          piece.style.cssText = `left:${((time - from) / (to - from)) * 100}%;width:${(step / (to - from)) * 101}%;background:${colour}`
          lane.append(piece)
        }
        return element('div', { className: 'lane' }, element('span', { textContent: one.name }), lane)
      }),
    )
  },
  timeseries(panel, results, { from, to, step }, box) {
    const all = seriesOf(results)
    if (all.length === 0) return nothing(panel)
    const known = [...new Set(all.flatMap(({ values }) => values.map(([time]) => time)))].sort((a, b) => a - b)
    // As in Grafana, no line crosses a time without values.
    const times = known.flatMap((time, index) => (known[index + 1] - time > 1.5 * step ? [time, time + step] : [time]))
    const data = [
      times,
      ...all.map(({ values }) => {
        const byTime = new Map(values.map(([time, value]) => [time, Number(value)]))
        return times.map((time) => byTime.get(time) ?? null)
      }),
    ]
    const holder = element('div')
    const { unit, decimals } = panel.fieldConfig.defaults
    new uPlot(
      {
        width: box.clientWidth - 4,
        height: Math.max(60, box.clientHeight - 30 - 18 * Math.ceil(all.length / 4)),
        scales: { x: { min: from, max: to } },
        series: [
          {},
          ...all.map(({ name }, index) => ({
            label: name,
            stroke: colours[index % colours.length],
            width: 1,
            spanGaps: false,
            value: (_, value) => (value == null ? '–' : format(value, { unit, decimals })),
          })),
        ],
        axes: [
          { stroke: '#8e8e9a', grid: { stroke: '#2b2e33' } },
          {
            stroke: '#8e8e9a',
            grid: { stroke: '#2b2e33' },
            size: 70,
            values: (_, values) => values.map((value) => format(value, { unit })),
          },
        ],
      },
      data,
      holder,
    )
    return holder
  },
}

async function show() {
  const query = new URLSearchParams(location.search)
  for (const field of document.querySelectorAll('[name]')) if (query.has(field.name)) field.value = query.get(field.name)
  const { range, panels } = await (await fetch(`data${location.search}`)).json()
  const main = document.getElementById('panels')
  for (const { panel, results } of panels) {
    const { x, y, w, h } = panel.gridPos
    const section = element(
      'section',
      { className: panel.type, title: panel.description ?? '' },
      element('h2', { textContent: panel.title }),
    )
    section.style.gridArea = `${y + 1} / ${x + 1} / span ${h} / span ${w}`
    const body = element('div', { className: 'body' })
    section.append(body)
    main.append(section)
    const errors = results.flatMap(({ error }) => error ?? [])
    if (errors.length > 0) body.append(element('div', { className: 'error', textContent: errors.join('\n') }))
    else if (draw[panel.type]) body.append(draw[panel.type](panel, results, range, body))
  }
  document.body.dataset.ready = 'true'
}
show().catch((error) => {
  document.body.append(element('p', { className: 'error', textContent: String(error) }))
  document.body.dataset.ready = 'failed'
})
