import { describe, expect, it } from 'vitest'
import type { LinkEntry } from '../../../../web/shared/model.ts'
import { isFor, targetOf, typedFolder } from '../../../../web/user/links/link-target.ts'

describe('what a link is for', () => {
  it.each([
    ['', ''],
    [' ', ''],
    ['Trip', 'Trip/'],
    ['/Trip/ day 1 //', 'Trip/day 1/'],
  ])('the typed folder %j is %j', (text, path) => expect(typedFolder(text)).toBe(path))

  it('is one file, or all that begin with the path of a folder', () => {
    expect(targetOf('Trip/a.jpg')).toEqual({ name: 'Trip/a.jpg' })
    expect(targetOf('Trip/')).toEqual({ prefix: 'Trip/' })
    expect(targetOf('')).toEqual({ prefix: '' })
  })

  it('is neither another file nor another folder', () => {
    const toFile = { name: 'Trip/a.jpg', prefix: null } as LinkEntry
    const toFolder = { name: null, prefix: 'Trip/' } as LinkEntry
    const paths = ['', 'Trip/', 'Trip/a.jpg', 'Trip/a', 'Trip/a.jpg/']
    expect(paths.filter((path) => isFor(toFile, path))).toEqual(['Trip/a.jpg'])
    expect(paths.filter((path) => isFor(toFolder, path))).toEqual(['Trip/'])
  })
})
