import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Generator, runIn, wordsOf } from './generator.ts'

const COMMAND =
  'oapi-codegen -generate types,client -package client -o client/client.go openapi.json'

const MODULE = `module example.com/program

go 1.24

require github.com/oapi-codegen/runtime v1.9.0
`

const PROGRAM = `package main

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"

	"example.com/program/client"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	authorized := client.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("ACCESS_TOKEN"))
		return nil
	})
	service, err := client.NewClientWithResponses(os.Getenv("BASE_URL"), authorized)
	if err != nil {
		return err
	}
	content, err := os.ReadFile("sent")
	if err != nil {
		return err
	}
	put, err := service.PutFileWithBodyWithResponse(ctx, "raw/a b", nil, "application/octet-stream", bytes.NewReader(content))
	if err != nil || put.JSON200 == nil {
		return fmt.Errorf("put: %v %v", err, put)
	}
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, _ := writer.CreateFormFile("file", "a b")
	part.Write(content)
	writer.Close()
	stored, err := service.UploadFileWithBodyWithResponse(ctx, "form/a b", nil, writer.FormDataContentType(), &form)
	if err != nil || stored.JSON200 == nil {
		return fmt.Errorf("form: %v %v", err, stored)
	}
	for _, way := range []string{"raw", "form"} {
		received, err := service.DownloadFileWithResponse(ctx, way+"/a b", nil)
		if err != nil || received.StatusCode() != http.StatusOK {
			return fmt.Errorf("get: %v %v", err, received)
		}
		if err := os.WriteFile("received-"+way, received.Body, 0o600); err != nil {
			return err
		}
	}
	return nil
}
`

export const OAPI_CODEGEN: Generator = {
  title: 'oapi-codegen',
  command: COMMAND,
  probe: ['oapi-codegen', '--version'],
  async prepare(folder) {
    await mkdir(join(folder, 'client'))
    await writeFile(join(folder, 'go.mod'), MODULE)
    await writeFile(join(folder, 'program.go'), PROGRAM)
  },
  async generate(folder) {
    return runIn(folder, wordsOf(COMMAND))
  },
  async compile(folder) {
    await runIn(folder, ['go', 'mod', 'tidy'])
    await runIn(folder, ['go', 'build', './...'])
  },
  async hasOperation(folder) {
    const text = await readFile(join(folder, 'client/client.go'), 'utf8')
    return (id) => {
      const name = id.replace(/^./, (letter) => letter.toUpperCase())
      return new RegExp(`^func \\(c \\*Client\\) ${name}(WithBody)?\\(`, 'm').test(text)
    }
  },
  async run(folder, environment) {
    await runIn(folder, ['go', 'run', '.'], environment)
  },
}
