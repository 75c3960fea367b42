import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ClientProgram } from '../programs.ts'

/** Where `mvn dependency:get -Dartifact=io.tus.java.client:tus-java-client:0.5.1` puts it. */
const JAVA_LIBRARY = join(
  homedir(),
  '.m2/repository/io/tus/java/client/tus-java-client/0.5.1/tus-java-client-0.5.1.jar',
)

/** The programs that `docs/clients.md` names for large files. */
export const UPLOADERS: readonly ClientProgram[] = [
  {
    title: 'tus-js-client in Node.js',
    language: 'ts',
    file: here('upload.mts'),
    probe: [process.execPath, '--version'],
    needs: 'node',
    run: () => [process.execPath, here('upload.mts')],
  },
  {
    title: 'tuspy',
    language: 'python',
    file: here('upload.py'),
    probe: ['python3', '-c', 'import tusclient'],
    needs: 'python3 with the package tuspy',
    run: () => ['python3', here('upload.py')],
  },
  {
    title: 'tus-java-client',
    language: 'java',
    file: here('Upload.java'),
    probe: ['javap', '-cp', JAVA_LIBRARY, 'io.tus.java.client.TusClient'],
    needs: `a JDK, 17 or later, or ${JAVA_LIBRARY}`,
    build: (folder) => ['javac', '-cp', JAVA_LIBRARY, '-d', folder, here('Upload.java')],
    run: (folder) => ['java', '-cp', `${JAVA_LIBRARY}:${folder}`, 'Upload'],
  },
  {
    title: 'tus with curl',
    language: 'sh',
    file: here('upload.sh'),
    probe: ['curl', '--version'],
    needs: 'curl',
    run: () => ['sh', here('upload.sh')],
  },
]

/** The page in which tus-js-client does the same. */
export const UPLOAD_PAGE = here('upload.html')

function here(file: string): string {
  return join(import.meta.dirname, file)
}
