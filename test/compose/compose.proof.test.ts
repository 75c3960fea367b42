import { afterAll, beforeAll, describe } from 'vitest'
import { missingEngine, missingImage } from './docker.ts'
import { faultsSuite } from './faults-suite.ts'
import { filesSuite } from './files-suite.ts'
import { hardeningSuite } from './hardening-suite.ts'
import { imageSuite } from './image-suite.ts'
import { COMPOSE_TIMEOUT_MS, openProject } from './project.ts'
import { scaleSuite } from './scale-suite.ts'
import { isSkipped } from '../support/servers/needs.ts'

const hasNoEngine = isSkipped(await missingEngine())
const hasNoProxy = hasNoEngine || isSkipped(await missingImage('nginx:1.29'))

const settings = { BASE_CAPACITY: '64MiB' }
const project = await openProject({ settings })

describe.skipIf(hasNoEngine)('docker compose up, with nothing else prepared', () => {
  beforeAll(async () => {
    await project.compose('down', '--volumes', '--remove-orphans')
    await project.compose('up', '--detach', '--wait', '--build')
  }, COMPOSE_TIMEOUT_MS)

  afterAll(async () => {
    await project.compose('--profile', 'scale', 'down', '--volumes', '--rmi', 'local')
  }, COMPOSE_TIMEOUT_MS)

  filesSuite(project)
  hardeningSuite(project)
  imageSuite(project)
  faultsSuite(project)
  describe.skipIf(hasNoProxy)('and then several instances', async () => {
    // Any free port for each instance, and the ranges from which Docker takes its networks.
    const TRUST_PROXY = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16'
    scaleSuite(await openProject({ settings: { ...settings, SERVICE_PORTS: '0', TRUST_PROXY } }))
  })
})
