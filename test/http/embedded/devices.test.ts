import { describe } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { devicesSuite } from '../devices/devices-suite.ts'
import { deviceSharesSuite } from '../devices/shares-suite.ts'

describe('the service on SQLite and local files', () => {
  devicesSuite(openEmbedded)
  deviceSharesSuite(openEmbedded)
})
