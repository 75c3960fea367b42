import { eventually } from '../support/eventually.ts'
import { docker } from './docker.ts'
import type { Project } from './project.ts'

export const VERSITYGW = {
  OBJECT_STORE: 's3://made-by-the-service',
  AWS_ENDPOINT_URL_S3: 'http://versitygw:7070',
  AWS_ACCESS_KEY_ID: 'test-access-key',
  AWS_SECRET_ACCESS_KEY: 'test-secret-key',
}

/** Runs this machine's `versitygw` in a container beside the project's MinIO, and returns the container's name. */
export async function startVersitygw(project: Project, program: string): Promise<string> {
  const name = `${project.name}-versitygw`
  const place = ['--network', `${project.name}_back`, '--network-alias', 'versitygw']
  const files = ['-v', `${program}:/usr/local/bin/versitygw:ro`, '-v', '/data']
  const keys = [
    ['ROOT_ACCESS_KEY', VERSITYGW.AWS_ACCESS_KEY_ID],
    ['ROOT_SECRET_KEY', VERSITYGW.AWS_SECRET_ACCESS_KEY],
  ].flatMap(([key, value]) => ['-e', `${key}=${value}`])
  const words = ['versitygw', '--port', ':7070', '--keep-alive', 'posix', '/data']
  await docker(['rm', '--force', '--volumes', name])
  await docker(['run', '-d', '--name', name, ...place, ...files, ...keys, IMAGE, ...words])
  await eventually(async () => {
    const state = await docker(['logs', name])
    if (!state.includes('7070')) throw new Error(`versitygw does not listen: ${state}`)
  })
  return name
}

/** Any that has the C library which the program was built with. */
const IMAGE = 'debian:bookworm-slim'
