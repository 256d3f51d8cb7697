// Draws the images of the tray into this folder: `node resources/tray/make.mjs`. One strip for each panel and size, the faces side by side.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'

/** In the order of the strip; `src-main/shell/tray-image.ts` counts on it. */
export const FACES = ['idle', 'running', 'paused', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+']
export const SIZES = [16, 22, 32]
/** The colour of the mark: `light` panels take a dark one. */
const PANELS = { light: [0x1b, 0x1f, 0x24], dark: [0xe6, 0xe9, 0xec] }
const WAITS = [0xd9, 0x6b, 0x0b]
const RUNS = [0x1f, 0x9e, 0x8c]
const PAUSED = [0x7a, 0x82, 0x8c]
const WHITE = [0xff, 0xff, 0xff]
/** Samples for each pixel and direction. */
const FINE = 8

// prettier-ignore
const SMALL = {
  1: '010110010010111',
  2: '110001010100111',
  3: '110001010001110',
  4: '101101111001001',
  5: '111100110001110',
  6: '011100111101111',
  7: '111001010010010',
  8: '111101111101111',
  9: '111101111001110',
  '+': '000010111010000',
}
// prettier-ignore
const TALL = {
  1: '00100011000010000100001000010001110',
  2: '01110100010000100010001000100011111',
  3: '01110100010000100110000011000101110',
  4: '00010001100101010010111110001000010',
  5: '11111100001111000001000011000101110',
  6: '01110100001000011110100011000101110',
  7: '11111000010001000100001000010000100',
  8: '01110100011000101110100011000101110',
  9: '01110100011000101111000010000101110',
  '+': '00000001000010011111001000010000000',
}

/** The letter of the size: cells of the width `wide`, each `scale` pixels. */
function letter(size) {
  if (size === 22) return { shapes: TALL, wide: 5, high: 7, scale: 1 }
  return { shapes: SMALL, wide: 3, high: 5, scale: size === 32 ? 2 : 1 }
}

/** How far the rim around the mark reaches, in its own units, and how much of a pixel it covers: it sets the mark off from any panel. */
const RIM = 11
const RIM_INK = 0.75

/** Whether a point of the 256 × 256 mark is inked: an arch with an "i" in it, bolder than in the large icon. */
function inMark(x, y, rim = 0) {
  const half = 15 + rim
  const arch = y >= 92 ? Math.min(Math.abs(x - 62), Math.abs(x - 194)) <= half && y <= 214 + rim : ringAt(x, y, half)
  const stem = Math.abs(x - 128) <= half && y >= 122 - rim && y <= 214 + rim
  return arch || stem || Math.hypot(x - 128, y - 86) <= 18 + rim
}

const ringAt = (x, y, half) => Math.abs(Math.hypot(x - 128, y - 92) - 66) <= half

/** The colour at a point of the badge, null beside it. The badge lies in the lower right corner. */
function badgeAt(face, size, x, y) {
  if (face === 'idle') return null
  const radius = size === 16 ? 4.5 : size === 22 ? 6.5 : 8
  const middle = size - radius
  const dx = x - middle
  const dy = y - middle
  const away = Math.hypot(dx, dy)
  // A gap of one pixel keeps the badge apart from the mark.
  if (away > radius + 1) return null
  if (away > radius) return 'gap'
  if (face === 'running') {
    const third = radius * 0.55
    return dx >= -third * 0.8 && dx <= third && Math.abs(dy) <= (third - dx) * 0.62 ? WHITE : RUNS
  }
  if (face === 'paused') {
    const beam = Math.abs(dx)
    return beam >= radius * 0.18 && beam <= radius * 0.52 && Math.abs(dy) <= radius * 0.5 ? WHITE : PAUSED
  }
  const { shapes, wide, high, scale } = letter(size)
  const column = Math.floor((x - (middle - (wide * scale) / 2)) / scale)
  const row = Math.floor((y - (middle - (high * scale) / 2)) / scale)
  const inked = column >= 0 && column < wide && row >= 0 && row < high && shapes[face][row * wide + column] === '1'
  return inked ? WHITE : WAITS
}

function pixel(panel, face, size, px, py) {
  let [red, green, blue, ink] = [0, 0, 0, 0]
  for (let sample = 0; sample < FINE * FINE; sample += 1) {
    const x = px + ((sample % FINE) + 0.5) / FINE
    const y = py + (Math.floor(sample / FINE) + 0.5) / FINE
    const badge = badgeAt(face, size, x, y)
    const [u, v] = [(x * 256) / size, (y * 256) / size]
    const rim = badge === null && !inMark(u, v) && inMark(u, v, RIM)
    const colour = badge ?? (inMark(u, v) ? PANELS[panel] : rim ? PANELS[panel === 'light' ? 'dark' : 'light'] : 'gap')
    if (colour === 'gap') continue
    const share = rim ? RIM_INK : 1
    red += colour[0] * share
    green += colour[1] * share
    blue += colour[2] * share
    ink += share
  }
  if (ink === 0) return [0, 0, 0, 0]
  return [red / ink, green / ink, blue / ink, (ink * 255) / (FINE * FINE)].map(Math.round)
}

function crc(bytes) {
  let value = ~0
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0)
  }
  return ~value >>> 0
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const all = Buffer.alloc(body.length + 8)
  all.writeUInt32BE(data.length, 0)
  body.copy(all, 4)
  all.writeUInt32BE(crc(body), body.length + 4)
  return all
}

/** @returns {Buffer} the strip of a panel and size as a PNG with alpha */
export function strip(panel, size) {
  const width = size * FACES.length
  const rows = Buffer.alloc(size * (1 + width * 4))
  for (let y = 0; y < size; y += 1)
    for (const [at, face] of FACES.entries())
      for (let x = 0; x < size; x += 1)
        rows.set(pixel(panel, face, size, x, y), y * (1 + width * 4) + 1 + (at * size + x) * 4)
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(size, 4)
  head.set([8, 6, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

if (process.argv[1] === import.meta.filename)
  for (const panel of Object.keys(PANELS))
    for (const size of SIZES) writeFileSync(join(import.meta.dirname, `${panel}-${size}.png`), strip(panel, size))
