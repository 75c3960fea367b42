import { expect, it } from 'vitest'
import { createAccess } from '../../../../web/user/access/access.ts'

it('a view that is closed while its code is loaded stays closed', async () => {
  const access = createAccess()
  const opened = access.open()
  access.close()
  await opened
  expect(access.View.value).toBeUndefined()
})
