import { NomosError } from '../../src-preload/contract/errors'
import type { ExecutionView, PreviewView } from '../../src-preload/contract/model'
import type { Gate } from './gate'

/** Shows what a waiting command would do without doing it, by commands that only read and go through the gate. */
export interface Preview {
  /** "What apt-get would do"; null where there is no preview. Pure and cheap: asked for every card. */
  labelOf(execution: ExecutionView): string | null
  /**
   * Runs the reads and puts their answers together.
   * @throws NomosError `conflict` when there is none, or when one of its reads would not run by itself; `unavailable` when one failed.
   */
  show(execution: ExecutionView): Promise<PreviewView>
}

export function createPreview(_deps: { readonly gate: Pick<Gate, 'request' | 'weigh' | 'output'> }): Preview {
  return {
    labelOf: () => null,
    show() {
      throw new NomosError('conflict', 'There is no preview of this command.', { field: 'id' })
    },
  }
}
