import { describe, expect, it } from 'vitest'
import type { Notice } from '../ports'
import { approvalNotice } from './notice-text'
import { plainLine, plainLines } from './plain'

const notice: Notice = {
  approvalId: 'apr_1',
  executionId: 'exe_1',
  digest: 'd',
  title: 'Change waits on local',
  body: 'touch a\nasked by you',
  others: 0,
  mayApprove: true,
}

describe('a notice', () => {
  it('has "Approve once" only where it may, and not while the screen is locked', () => {
    const keys = (of: Notice, locked: boolean | null): readonly string[] =>
      approvalNotice(of, locked).actions.map(({ key }) => key)
    expect(keys(notice, null)).toEqual(['default', 'deny', 'approve'])
    expect(keys(notice, false)).toEqual(['default', 'deny', 'approve'])
    expect(keys(notice, true)).toEqual(['default', 'deny'])
    expect(keys({ ...notice, mayApprove: false }, false)).toEqual(['default', 'deny'])
    expect(approvalNotice({ ...notice, mayApprove: false }, null).urgency).toBe('critical')
  })

  it('cannot be made to look like another one', () => {
    const { title, body } = approvalNotice(
      {
        ...notice,
        title: 'Change\u2028waits',
        body: 'rm \u202egnp.txt\u0007\u200b\u00a0\u{e0041}\nasked by you\n3\n4\nfifth',
      },
      null,
    )
    expect(title).toBe('Change\\u{2028}waits')
    expect(body).toBe('rm \\u{202e}gnp.txt\\u{7}\\u{200b}\\u{a0}\\u{e0041}\nasked by you\n3\n4')
  })
})

describe('plain text', () => {
  it('is one line of a bounded length, in whole characters', () => {
    expect(plainLine('a\n\tb  c\r\nd ')).toBe('a b c d')
    expect(plainLine('😀'.repeat(5), 3)).toBe('😀😀…')
    expect(plainLine('größe 漢字 ✓')).toBe('größe 漢字 ✓')
    expect(plainLines('a\r\nb')).toBe('a\nb')
  })
})
