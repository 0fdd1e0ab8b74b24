import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import GithubSlugger from 'github-slugger'
import { lexer, type Token, type Tokens, walkTokens } from 'marked'

const root = join(import.meta.dirname, '..', '..')

/** A fenced code block. */
export interface Block {
  /** Path of the page, from the project's root. */
  readonly page: string
  /** Counted from 1. */
  readonly line: number
  readonly language: string
  readonly text: string
  /** Why the tests do not run it, from the comment before it: `<!-- not run here: needs Docker -->`. */
  readonly notRun?: string
  /** The block before it is the only thing between it and the text before. */
  readonly follows?: Block
}

export interface MarkdownPage {
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
  /** Targets of links and images. */
  readonly links: readonly string[]
  /** Texts in backticks. */
  readonly codes: readonly string[]
  /** Identifiers of the headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>
}

const folders = ['bench', 'charts', 'docs', 'exporter', 'config', 'grafana/provisioning', 'src/web/fonts']

/** The paths of all Markdown files of the project. */
export const pagePaths: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => join(folder, path)),
  ),
].toSorted()

const isComment = (token: Token): token is Tokens.HTML => token.type === 'html' && token.raw.startsWith('<!--')

export function parsePage(path: string, text: string): MarkdownPage {
  const tokens = lexer(text)
  const slugger = new GithubSlugger()
  const blocks: Block[] = []
  const links: string[] = []
  const codes: string[] = []
  const anchors = new Set<string>()
  let line = 1
  let notRun: string | undefined
  let before: Block | undefined
  for (const token of tokens) {
    if (token.type === 'code') {
      const { lang = '', text } = token as Tokens.Code
      const block: Block = {
        page: path,
        line,
        language: lang,
        text,
        ...(notRun && { notRun }),
        ...(before && { follows: before }),
      }
      blocks.push(block)
      before = block
      notRun = undefined
    } else if (isComment(token)) {
      notRun = /^<!-- not run here: (.+?) -->/.exec(token.raw)?.[1]
    } else if (token.type !== 'space') {
      before = undefined
      notRun = undefined
    }
    line += token.raw.split('\n').length - 1
  }
  walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') links.push((token as Tokens.Link).href)
    if (token.type === 'codespan') codes.push((token as Tokens.Codespan).text)
    if (token.type === 'heading') anchors.add(slugger.slug(plainText((token as Tokens.Heading).tokens)))
  })
  return { path, text, blocks, links, codes, anchors }
}

/** The text of a heading without its markup, which is what its anchor is made from. */
const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => ('tokens' in token && token.tokens ? plainText(token.tokens) : 'text' in token ? token.text : ''))
    .join('')

/** @param path from the project's root */
export const readPage = (path: string): MarkdownPage => parsePage(path, readFileSync(join(root, path), 'utf8'))

/** The location of a block, for messages. */
export const placeOf = ({ page, line }: Block): string => `${page}:${line}`
