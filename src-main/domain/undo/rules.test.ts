import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { expect, it } from 'vitest'
import { UndoFile, undoFaults } from '.'

const shipped = UndoFile.parse(load(readFileSync(join(import.meta.dirname, '../../../policies/undo.yaml'), 'utf8')))

it('every example of the shipped file holds', () => {
  expect(undoFaults(shipped)).toEqual([])
})
