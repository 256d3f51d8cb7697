import { describe, expect, it } from 'vitest'
import { blockOf, blocksOf, inlinesOf } from './markdown'

const read = (source: string) => blocksOf(source).map(blockOf)

describe('blocks', () => {
  it('reads paragraphs, headings, rules and quotes', () => {
    expect(read('one\ntwo\n\n## Three ##\nfour\n\n---\n> five\n> six')).toEqual([
      { kind: 'paragraph', text: 'one\ntwo' },
      { kind: 'heading', text: 'Three' },
      { kind: 'paragraph', text: 'four' },
      { kind: 'rule' },
      { kind: 'quote', text: 'five\nsix' },
    ])
  })

  it('reads lists inside lists and continued lines', () => {
    const [list] = read('2. a\n   more\n   - b\n   - c\n3. d')
    expect(list).toEqual({
      kind: 'list',
      ordered: true,
      first: 2,
      items: [
        {
          text: 'a\nmore',
          inner: {
            ordered: false,
            first: 1,
            items: [
              { text: 'b', inner: null },
              { text: 'c', inner: null },
            ],
          },
        },
        { text: 'd', inner: null },
      ],
    })
  })

  it('keeps fenced code as it is, closed or not, with other fences inside', () => {
    expect(read('```sh\nls  -l\n\n# not a heading\n```\nafter')).toEqual([
      { kind: 'code', language: 'sh', text: 'ls  -l\n\n# not a heading' },
      { kind: 'paragraph', text: 'after' },
    ])
    expect(read('````\n```\n````')).toEqual([{ kind: 'code', language: '', text: '```' }])
    expect(read('~~~\nstill open')).toEqual([{ kind: 'code', language: '', text: 'still open' }])
  })

  it('only changes the last block while a text streams in', () => {
    const text = 'First **one**.\n\n- a\n- b\n\n```\ncode\n```\n\nLast'
    for (let length = 1; length < text.length; length += 1) {
      const now = blocksOf(text.slice(0, length))
      const next = blocksOf(text.slice(0, length + 1))
      expect(next.slice(0, now.length - 1)).toEqual(now.slice(0, -1))
    }
  })
})

describe('inlines', () => {
  it('reads bold, italics and code', () => {
    expect(inlinesOf('a **b** *c* `d *e*` ``f ` g``')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'bold', text: 'b' },
      { kind: 'text', text: ' ' },
      { kind: 'italic', text: 'c' },
      { kind: 'text', text: ' ' },
      { kind: 'code', text: 'd *e*' },
      { kind: 'text', text: ' ' },
      { kind: 'code', text: 'f ` g' },
    ])
  })

  it('leaves names, globs and sums alone', () => {
    for (const text of ['my_file_name', '2 * 3 * 4', 'rm *.log *.txt', 'a ** b', '`open', '__x__']) {
      expect(inlinesOf(text)).toEqual([{ kind: 'text', text }])
    }
  })

  it('has no kind that could carry HTML or a link', () => {
    const text = '<img src=x onerror=alert(1)> [click](javascript:alert(1)) <script>x</script> &lt;'
    expect(inlinesOf(text)).toEqual([{ kind: 'text', text }])
    expect(read(text)).toEqual([{ kind: 'paragraph', text }])
  })

  it('stays quick on text made to be slow', () => {
    const began = performance.now()
    for (const text of ['*'.repeat(20_000), '`'.repeat(20_000), '**a '.repeat(5000), '` '.repeat(10_000)])
      inlinesOf(text)
    blocksOf('- '.repeat(20_000)).map(blockOf)
    blocksOf('> '.repeat(20_000)).map(blockOf)
    expect(performance.now() - began).toBeLessThan(800)
  })
})
