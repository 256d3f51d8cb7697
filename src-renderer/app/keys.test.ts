import { describe, expect, it } from 'vitest'
import { type KeyPress, keyAction } from './keys'

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  repeat: false,
  typing: false,
  layered: false,
  ...more,
})

describe('keys', () => {
  it('open the palette and the rooms from anywhere, with the key of the system', () => {
    expect(keyAction(press('k', { ctrlKey: true, typing: true }), false, false)).toEqual({ kind: 'palette' })
    expect(keyAction(press('k', { metaKey: true }), false, true)).toEqual({ kind: 'palette' })
    expect(keyAction(press('k', { ctrlKey: true }), true, true)).toBeNull()
    expect(keyAction(press('3', { ctrlKey: true, typing: true }), false, false)).toEqual({ kind: 'room', index: 2 })
    expect(keyAction(press('7', { ctrlKey: true }), false, false)).toBeNull()
  })

  it('never act as letters in text fields, with other keys, held down, or when they are switched off', () => {
    for (const key of ['a', 'd', 's']) {
      expect(keyAction(press(key), true, false)).toEqual({ kind: 'letter', letter: key })
      expect(keyAction(press(key, { typing: true }), true, false)).toBeNull()
      expect(keyAction(press(key, { ctrlKey: true }), true, false)).toBeNull()
      expect(keyAction(press(key, { altKey: true }), true, false)).toBeNull()
      expect(keyAction(press(key, { repeat: true }), true, false)).toBeNull()
      expect(keyAction(press(key), false, false)).toBeNull()
      expect(keyAction(press(key, { layered: true }), true, false)).toBeNull()
    }
  })

  it('walk along the cards, also held down', () => {
    expect(keyAction(press('j'), true, false)).toEqual({ kind: 'card', step: 1 })
    expect(keyAction(press('k', { repeat: true }), true, false)).toEqual({ kind: 'card', step: -1 })
    expect(keyAction(press('j', { typing: true, repeat: true }), true, false)).toBeNull()
  })

  it('reach the composer and the list of keys outside text fields only', () => {
    expect(keyAction(press('/'), false, false)).toEqual({ kind: 'composer' })
    expect(keyAction(press('?', { shiftKey: true }), false, false)).toEqual({ kind: 'shortcuts' })
    expect(keyAction(press('/', { typing: true }), true, false)).toBeNull()
    expect(keyAction(press('Escape', { typing: true }), true, false)).toEqual({ kind: 'escape' })
  })
})
