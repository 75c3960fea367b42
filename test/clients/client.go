// Uploads and downloads with net/http. BASE_URL and ACCESS_TOKEN come from the environment.
//
//	go run client.go upload FILE NAME
//	go run client.go download NAME FILE
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: upload FILE NAME | download NAME FILE")
	}
	run := map[string]func(source, target string) error{"upload": upload, "download": download}[os.Args[1]]
	if run == nil {
		log.Fatal("upload or download?")
	}
	if err := run(os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func upload(path, name string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}

	// The form without the content, which is streamed between its two halves.
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	if _, err := writer.CreateFormFile("file", "file"); err != nil {
		return err
	}
	middle := form.Len()
	if err := writer.Close(); err != nil {
		return err
	}
	head, tail := form.Bytes()[:middle], form.Bytes()[middle:]

	body := io.MultiReader(bytes.NewReader(head), file, bytes.NewReader(tail))
	request, err := http.NewRequest(http.MethodPost, address(name), body)
	if err != nil {
		return err
	}
	request.ContentLength = int64(form.Len()) + info.Size()
	request.Header.Set("Content-Type", writer.FormDataContentType())
	// What will be refused is refused before its content is sent.
	request.Header.Set("Expect", "100-continue")
	return send(request, os.Stdout)
}

func download(name, path string) error {
	request, err := http.NewRequest(http.MethodGet, address(name), nil)
	if err != nil {
		return err
	}
	// Whatever is there already stays until the whole content has come.
	part := path + ".part"
	file, err := os.Create(part)
	if err != nil {
		return err
	}
	defer os.Remove(part)
	if err := send(request, file); err != nil {
		file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(part, path)
}

func send(request *http.Request, to io.Writer) error {
	request.AddCookie(&http.Cookie{Name: "access_token", Value: os.Getenv("ACCESS_TOKEN")})
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		problem, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%d %s", response.StatusCode, problem)
	}
	_, err = io.Copy(to, response.Body)
	return err
}

func address(name string) string {
	return os.Getenv("BASE_URL") + "/users/me/repo/" + url.PathEscape(name)
}
