import { join } from 'node:path'
import { type NativeImage, nativeImage } from 'electron'
import type { TrayFace } from './tray-menu'

/** The faces in the strips of `resources/tray`, in their order; `make.mjs` draws them. */
const FACES = ['idle', 'running', 'paused', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+'] as const

/** Pixels of the strip for each scale of the screen. Panels on Linux are 22 high or more, the others 16. */
const SIZES = process.platform === 'linux' ? { base: 22, large: 32 } : { base: 16, large: 32 }

const faceName = (face: TrayFace): (typeof FACES)[number] => {
  if (typeof face === 'string') return face
  return FACES.find((name) => name === String(face.waiting)) ?? '+'
}

/** The image of a face, for a dark panel or a light one. */
export function trayImage(resources: string, face: TrayFace, dark: boolean): NativeImage {
  const at = FACES.indexOf(faceName(face))
  const cut = (size: number): Buffer => {
    const strip = nativeImage.createFromPath(
      join(resources, 'resources', 'tray', `${dark ? 'dark' : 'light'}-${size}.png`),
    )
    return strip.crop({ x: at * size, y: 0, width: size, height: size }).toPNG()
  }
  const image = nativeImage.createFromBuffer(cut(SIZES.base))
  image.addRepresentation({ scaleFactor: SIZES.large / SIZES.base, buffer: cut(SIZES.large) })
  return image
}
