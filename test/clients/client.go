// Uploads and downloads files with net/http. Reads BASE_URL and ACCESS_TOKEN from the environment.
//
//	go run client.go upload FILE NAME [ETAG]
//	go run client.go download NAME FILE
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const tries = 5
const maxWaitSeconds = 60

func main() {
	log.SetFlags(0)
	args := append(os.Args[1:], "", "")
	var err error
	switch {
	case len(os.Args) >= 4 && args[0] == "upload":
		err = upload(args[1], args[2], args[3])
	case len(os.Args) == 4 && args[0] == "download":
		err = download(args[1], args[2])
	default:
		log.Fatal("usage: upload FILE NAME [ETAG] | download NAME FILE")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// upload creates or replaces the file with that name. With an etag, it replaces only that version.
func upload(path, name, etag string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	return retry(func() (*http.Response, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		request, err := uploadRequest(file, name)
		if err != nil {
			return nil, err
		}
		if etag != "" {
			request.Header.Set("If-Match", `"`+etag+`"`)
		}
		response, err := send(request)
		if err != nil || response.StatusCode != http.StatusOK {
			return response, err
		}
		_, err = io.Copy(os.Stdout, response.Body)
		return response, err
	})
}

// uploadRequest streams the file between the two halves of a form, without reading it into memory.
func uploadRequest(file *os.File, name string) (*http.Request, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	if _, err := writer.CreateFormFile("file", "file"); err != nil {
		return nil, err
	}
	middle := form.Len()
	if err := writer.Close(); err != nil {
		return nil, err
	}
	head, tail := form.Bytes()[:middle], form.Bytes()[middle:]
	body := io.MultiReader(bytes.NewReader(head), file, bytes.NewReader(tail))
	request, err := http.NewRequest(http.MethodPost, address(name), body)
	if err != nil {
		return nil, err
	}
	request.ContentLength = int64(form.Len()) + info.Size()
	request.Header.Set("Content-Type", writer.FormDataContentType())
	// With this header the service can refuse the upload before its content is sent.
	request.Header.Set("Expect", "100-continue")
	return request, nil
}

// download resumes the download of an earlier attempt or run that was cut off.
func download(name, path string) error {
	part, tag := path+".part", path+".etag"
	err := retry(func() (*http.Response, error) {
		request, err := http.NewRequest(http.MethodGet, address(name), nil)
		if err != nil {
			return nil, err
		}
		etag, _ := os.ReadFile(tag)
		if info, err := os.Stat(part); err == nil && info.Size() > 0 && len(etag) > 0 {
			request.Header.Set("Range", fmt.Sprintf("bytes=%d-", info.Size()))
			// With If-Range, the service sends the whole file if it has changed.
			request.Header.Set("If-Range", string(etag))
		}
		response, err := send(request)
		if err != nil || response.StatusCode >= 300 {
			return response, err
		}
		if response.StatusCode == http.StatusOK {
			if err := os.WriteFile(part, nil, 0o600); err != nil {
				return nil, err
			}
			if err := os.WriteFile(tag, []byte(response.Header.Get("ETag")), 0o600); err != nil {
				return nil, err
			}
		}
		file, err := os.OpenFile(part, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		_, err = io.Copy(file, response.Body)
		return response, err
	})
	if err != nil {
		return err
	}
	// Replace the target only when the download is complete.
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return os.Remove(tag)
}

// retry retries temporary failures after the delay that the service requests, or gives up if that exceeds a minute.
func retry(attempt func() (*http.Response, error)) error {
	for left := tries - 1; ; left-- {
		response, err := attempt()
		if response != nil {
			defer response.Body.Close()
		}
		wait := 1
		if err == nil {
			switch response.StatusCode {
			// 416: an earlier run received every byte.
			case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
				return nil
			case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusServiceUnavailable:
				if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
					wait = seconds
				}
				if left == 0 || wait > maxWaitSeconds {
					return refusal(response)
				}
			default:
				return refusal(response)
			}
		}
		if left == 0 {
			return err
		}
		time.Sleep(time.Duration(wait) * time.Second)
	}
}

func refusal(response *http.Response) error {
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	log.Printf("%d %s", response.StatusCode, text)
	var problem struct {
		Code      string
		Available int64
	}
	if err := json.Unmarshal(text, &problem); err != nil {
		return err
	}
	if problem.Code == "capacity_exceeded" {
		return fmt.Errorf("full: %d bytes are left", problem.Available)
	}
	return fmt.Errorf("refused: %s", problem.Code)
}

func send(request *http.Request) (*http.Response, error) {
	request.AddCookie(&http.Cookie{Name: "access_token", Value: os.Getenv("ACCESS_TOKEN")})
	return http.DefaultClient.Do(request)
}

func address(name string) string {
	return os.Getenv("BASE_URL") + "/users/me/repo/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
}
