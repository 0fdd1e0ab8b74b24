/** Normalises a text for comparison: lower case, and combining characters composed (NFC). */
export function fold(text: string): string {
  const lower = text.toLowerCase()
  // Below U+0300 nothing can be composed; this test is much cheaper than normalize().
  return /[\u0300-\uffff]/.test(lower) ? lower.normalize('NFC') : lower
}

/** One text of every entry, for substring search. */
export interface TextColumn {
  /** Ids of the entries whose text contains the query, ascending. An empty query matches every text. */
  find(query: string): Uint32Array
}

const separator = '\n'
const blockSize = 64
/** Without these, folding is plain lower-casing and keeps the length: below U+0300, only U+0130 becomes longer. */
const special = /\u0130|[\u0300-\uffff]/

/**
 * All texts are in one string, so that a search is one native scan instead of a call per entry.
 * A hit that extends into the next text is ignored.
 */
export function textColumn(): { add(text: string): void; finish(): TextColumn } {
  // Joined in two steps: a million small strings that live until the end are expensive for the garbage collector.
  const blocks: string[] = []
  let texts: string[] = []
  /** Where each text starts; `starts[id + 1] - 1` is its end. */
  const starts = [0]
  let [end, longest] = [0, 0]

  function flush(): void {
    if (texts.length === 0) return
    let joined = texts.join(separator)
    if (special.test(joined)) {
      texts = texts.map(fold)
      joined = texts.join(separator)
    } else {
      // The common case: one call for all texts.
      joined = joined.toLowerCase()
    }
    for (const { length } of texts) {
      if (length > longest) longest = length
      end += length + separator.length
      starts.push(end)
    }
    blocks.push(joined)
    texts = []
  }

  return {
    add(text) {
      if (texts.push(text) === blockSize) flush()
    },
    finish() {
      flush()
      return columnOf(blocks.join(separator), new Uint32Array(starts), longest)
    },
  }
}

/** A separate function, so that its closure does not keep the variables of the builder alive: they are larger than the column. */
function columnOf(joined: string, starts: Uint32Array, longest: number): TextColumn {
  return {
    find(query) {
      const wanted = fold(query)
      return wanted.length > longest ? new Uint32Array() : find(joined, starts, wanted)
    },
  }
}

function find(joined: string, starts: Uint32Array, wanted: string): Uint32Array {
  const ids: number[] = []
  const count = starts.length - 1
  let id = 0
  let hit = count === 0 ? -1 : joined.indexOf(wanted)
  while (hit !== -1) {
    id = textAt(starts, hit, id)
    const next = starts[id + 1] ?? 0
    if (hit + wanted.length < next) {
      ids.push(id)
      hit = id + 1 < count ? joined.indexOf(wanted, next) : -1
    } else {
      hit = joined.indexOf(wanted, hit + 1)
    }
  }
  return new Uint32Array(ids)
}

/** The id of the text at a position; it is at least `id`. */
function textAt(starts: Uint32Array, position: number, id: number): number {
  // Frequent hits are close to each other, so try a few texts before the binary search.
  for (let low = id; low < id + 8; low++) if ((starts[low + 1] ?? Number.POSITIVE_INFINITY) > position) return low
  let [low, high] = [id + 8, starts.length - 2]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((starts[middle + 1] ?? 0) > position) high = middle
    else low = middle + 1
  }
  return low
}
