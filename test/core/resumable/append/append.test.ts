import { expect, it } from 'vitest'
import { faultyStore } from '../../../support/faults/faults.ts'
import { appendIn, createIn, openS3Uploads } from '../s3-uploads.ts'

it('an append tells the store the size of its body, so that it claims no more memory', async () => {
  await using opened = await openS3Uploads()
  const { caller, objects } = opened
  const sizes: (number | undefined)[] = []
  const append: typeof objects.append = (request) => {
    sizes.push(request.bodySize)
    return objects.append(request)
  }
  const uploads = opened.open(faultyStore(objects, { append }))
  const { version } = await createIn(uploads, caller, 10)
  await appendIn(uploads, caller, { version, content: 'hel' })
  await appendIn(uploads, caller, { version, offset: 3, content: 'lo world'.slice(0, 7) })
  expect(sizes).toEqual([3, 7])
})
