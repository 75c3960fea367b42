import { copyFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Generator, runIn, wordsOf } from './generator.ts'

const COMMAND =
  'openapi-python-client generate --path openapi.json --config openapi-python-client.yml --meta none --output-path client'

/** The types of bodies that the generator does not know by itself. */
const CONFIG = 'docs/examples/openapi-python-client.yml'

const PROGRAM = `import os
from io import BytesIO
from pathlib import Path

from client import AuthenticatedClient
from client.api.files import download_file, put_file, upload_file
from client.models import UploadedFile, UploadFileBody
from client.types import File

client = AuthenticatedClient(os.environ["BASE_URL"], os.environ["ACCESS_TOKEN"])
content = Path("sent").read_bytes()

stored = put_file.sync("raw/a b", client=client, body=File(BytesIO(content)))
assert isinstance(stored, UploadedFile) and stored.size == len(content), stored
stored = upload_file.sync("form/a b", client=client, body=UploadFileBody(File(BytesIO(content), "a b")))
assert isinstance(stored, UploadedFile) and stored.size == len(content), stored

for way in ("raw", "form"):
    received = download_file.sync(f"{way}/a b", client=client)
    assert isinstance(received, File), received
    Path(f"received-{way}").write_bytes(received.payload.read())
`

/** That module is the same for every document, and has faults of its own. */
const MYPY = `[mypy]
[mypy-client.client]
ignore_errors = True
`

export const OPENAPI_PYTHON_CLIENT: Generator = {
  title: 'openapi-python-client',
  command: COMMAND,
  probe: ['openapi-python-client', '--version'],
  async prepare(folder) {
    await copyFile(CONFIG, join(folder, 'openapi-python-client.yml'))
    await writeFile(join(folder, 'program.py'), PROGRAM)
    await writeFile(join(folder, 'mypy.ini'), MYPY)
  },
  async generate(folder) {
    const printed = await runIn(folder, [...wordsOf(COMMAND), '--overwrite'])
    return printed.replace(/^Generating .*\n/, '').trim()
  },
  async compile(folder) {
    await runIn(folder, ['python3', '-m', 'mypy', '.'])
  },
  async hasOperation(folder) {
    const names = await readdir(join(folder, 'client/api'), { recursive: true })
    const modules = new Set(names.map((name) => name.split('/').at(-1)))
    return (id) =>
      modules.has(`${id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}.py`)
  },
  async run(folder, environment) {
    await runIn(folder, ['python3', 'program.py'], environment)
  },
}
