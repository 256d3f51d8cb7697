import type { Notice, NoticeText } from '../ports'
import { plainLine, plainLines } from './plain'

/** A notice of a waiting request, with the buttons it may have. `locked`: a screen that is known to be locked takes "Approve once" away. */
export function approvalNotice(notice: Notice, locked: boolean | null): NoticeText {
  const approve = notice.mayApprove && locked !== true ? [{ key: 'approve', label: 'Approve once' }] : []
  return {
    title: plainLine(notice.title),
    body: plainLines(notice.body),
    // What takes its card or a phrase stays until somebody has looked.
    urgency: notice.mayApprove ? 'normal' : 'critical',
    actions: [{ key: 'default', label: 'Review' }, { key: 'deny', label: 'Deny' }, ...approve],
  }
}
