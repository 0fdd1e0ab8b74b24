import { expect, it } from 'vitest'
import { createFormat } from '../../../src/web/view/format.ts'
import { viewControls, viewNotices } from '../../../src/web/view/layout.ts'
import { toHtml } from '../../../src/web/view/node.ts'
import { texts as english } from '../../../src/web/view/texts/en.ts'

const context = { texts: english, format: createFormat('en', 'UTC'), now: 0, root: '', title: 'Servers' }
const controls = (...groups: readonly string[]) => toHtml(viewControls(groups, context))

it('has a choice of groups if there are any', () => {
  const html = controls('Games', '<b>"x"')
  expect(html).toContain(
    '<label class="pick"><span>Group</span><select id="group"><option value="">All groups</option><option value="Games">Games</option>',
  )
  expect(html).toContain('<option value="&lt;b&gt;&quot;x&quot;">&lt;b&gt;&quot;x&quot;</option>')
})

it('hides the choice of groups if there are none', () => {
  expect(controls()).toContain('<label class="pick" hidden="">')
})

it('says that notifications cannot be sent, and through which channels', () => {
  expect(viewNotices(context)).toEqual([])
  const [html, ...others] = viewNotices({ ...context, failingChannels: ['ops', '<b>'] }).map(toHtml)
  expect(others).toEqual([])
  expect(html).toContain(english.channelsFail('ops, &lt;b&gt;'))
})
