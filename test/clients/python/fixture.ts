import type { HttpProxy } from '../../support/faults/http-proxy.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import type { Mode, PythonProject, PythonSession } from './installed-package.ts'

/** A client in Python, and a network before the service in which its requests meet with mishaps. */
export interface PythonFixture {
  readonly mode: Mode
  readonly project: PythonProject
  readonly network: HttpProxy
  readonly service: TestService
  readonly user: TestUser
  readonly session: PythonSession
}
