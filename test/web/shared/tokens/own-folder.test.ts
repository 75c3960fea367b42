import { describe, expect, it } from 'vitest'
import { faultOf } from '../../../../web/shared/file-name.ts'
import { ownFolder } from '../../../../web/shared/tokens/own-folder.ts'

const folderOf = (label: string, { taken = [] as string[], distinct = '' } = {}) =>
  ownFolder({ label, distinct, isTaken: (folder) => taken.includes(folder) })

describe('the folder of a device', () => {
  it.each([
    ['Garden camera', 'Garden camera/'],
    [' Garden/\\left ', 'Garden-left/'],
    ['a\u0000b\u007fc', 'a-b-c/'],
    ['..', 'device/'],
    ['.', 'device/'],
    ['  ', 'device/'],
    ['...', '.../'],
  ])('the folder of the label %j is %j', (label, folder) => {
    expect(folderOf(label)).toBe(folder)
  })

  it('has the id instead of a label that no folder can have', () => {
    expect(folderOf('..', { distinct: 'camera-17' })).toBe('camera-17/')
  })

  it('is another one than that of a device of the same name', () => {
    const distinct = 'camera-2'
    expect(folderOf('Camera', { taken: ['Camera/'], distinct })).toBe('Camera (camera-2)/')
    const taken = ['Camera/', 'Camera (camera-2)/']
    expect(folderOf('Camera', { taken, distinct })).toBe('Camera (camera-2) 3/')
    expect(folderOf('Camera', { taken: ['Camera/'] })).toBe('Camera 2/')
  })

  it.each(['ü', '📷', 'x'])('is cut between characters where the label is long', (character) => {
    const label = character.repeat(255)
    for (const taken of [[], [folderOf(label)]]) {
      const folder = folderOf(label, { taken, distinct: 'camera-2' })
      expect(faultOf(folder)).toBeUndefined()
      expect(folder).toMatch(taken.length === 0 ? /^[^\ufffd]+\/$/ : /^[^\ufffd]+ \(camera-2\)\/$/)
    }
  })
})
