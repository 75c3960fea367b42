// Uploads and downloads with fetch and FormData. BASE_URL and ACCESS_TOKEN come from the environment.
//   node client.mjs upload FILE NAME
//   node client.mjs download NAME FILE
import { rename } from 'node:fs/promises'
import { createWriteStream, openAsBlob } from 'node:fs'
import { pipeline } from 'node:stream/promises'

const { BASE_URL, ACCESS_TOKEN } = process.env

async function upload(path, name) {
  const form = new FormData()
  // The blob only refers to the file, but the fetch of Node 24 reads ahead of the network and can come to hold all
  // of it. For files that memory has no room for, send the form with node:http.
  form.append('file', await openAsBlob(path), 'file')
  const response = await request(name, { method: 'POST', body: form })
  console.log(await response.text())
}

async function download(name, path) {
  const response = await request(name)
  // Whatever is there already stays until the whole content has come.
  await pipeline(response.body, createWriteStream(`${path}.part`))
  await rename(`${path}.part`, path)
}

async function request(name, options) {
  const url = `${BASE_URL}/users/me/repo/${encodeURIComponent(name)}`
  const headers = { cookie: `access_token=${ACCESS_TOKEN}` }
  const response = await fetch(url, { ...options, headers })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return response
}

const [command, source, target] = process.argv.slice(2)
await (command === 'upload' ? upload(source, target) : download(source, target))
