import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Uploads and downloads files with the HttpClient of Java 17. Reads BASE_URL and ACCESS_TOKEN from the environment.
 *
 * <pre>
 * java Client.java upload FILE NAME [ETAG]
 * java Client.java download NAME FILE
 * </pre>
 */
public class Client {
    private static final int TRIES = 5;
    private static final long MAX_WAIT_SECONDS = 60;
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "upload" -> upload(Path.of(args[1]), args[2], args.length > 3 ? args[3] : null);
            case "download" -> download(args[1], Path.of(args[2]));
            default -> throw new IllegalArgumentException("The first argument must be upload or download.");
        }
    }

    /** Creates or replaces the file with that name. With an etag, replaces only that version. */
    private static void upload(Path path, String name, String etag) throws Exception {
        String boundary = UUID.randomUUID().toString();
        String head = "--" + boundary + "\r\n"
            + "Content-Disposition: form-data; name=\"file\"; filename=\"file\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\n";
        String tail = "\r\n--" + boundary + "--\r\n";
        // This streams the file, and sends a Content-Length.
        var body = BodyPublishers.concat(
            BodyPublishers.ofString(head), BodyPublishers.ofFile(path), BodyPublishers.ofString(tail));
        var request = request(name)
            .header("Content-Type", "multipart/form-data; boundary=" + boundary)
            .POST(body);
        if (etag != null) request.header("If-Match", '"' + etag + '"');
        retry(() -> {
            var response = HTTP.send(request.build(), BodyHandlers.ofInputStream());
            if (response.statusCode() == 200) response.body().transferTo(System.out);
            return response;
        });
    }

    /** Downloads a file. Resumes the download of an earlier attempt or run that was cut off. */
    private static void download(String name, Path path) throws Exception {
        Path part = Path.of(path + ".part");
        Path tag = Path.of(path + ".etag");
        retry(() -> {
            var request = request(name);
            if (Files.exists(tag) && Files.exists(part) && Files.size(part) > 0) {
                request.header("Range", "bytes=" + Files.size(part) + "-");
                // With If-Range, the service sends the whole file if it has changed.
                request.header("If-Range", Files.readString(tag));
            }
            var response = HTTP.send(request.build(), BodyHandlers.ofInputStream());
            if (response.statusCode() >= 300) return response;
            if (response.statusCode() == 200) {
                Files.write(part, new byte[0]);
                Files.writeString(tag, response.headers().firstValue("ETag").orElseThrow());
            }
            try (var out = Files.newOutputStream(part, StandardOpenOption.APPEND)) {
                response.body().transferTo(out);
            }
            return response;
        });
        // Replace the target only when the download is complete.
        Files.move(part, path, StandardCopyOption.REPLACE_EXISTING);
        Files.delete(tag);
    }

    private interface Attempt {
        HttpResponse<InputStream> send() throws IOException, InterruptedException;
    }

    /** Retries temporary failures after the delay that the service requests, unless that exceeds a minute. */
    private static void retry(Attempt attempt) throws Exception {
        for (int left = TRIES - 1; ; left--) {
            long wait = 1;
            try {
                var response = attempt.send();
                int status = response.statusCode();
                // 416: an earlier run received every byte.
                if (status < 300 || status == 416) return;
                if (left == 0 || !Set.of(408, 429, 503).contains(status)) fail(response);
                wait = Long.parseLong(response.headers().firstValue("Retry-After").orElse("1"));
                if (wait > MAX_WAIT_SECONDS) fail(response);
            } catch (IOException error) {
                if (left == 0) throw error;
            }
            Thread.sleep(1000 * wait);
        }
    }

    private static void fail(HttpResponse<InputStream> response) throws IOException {
        // The JDK has no JSON parser. Use the JSON library of your program.
        String problem = new String(response.body().readAllBytes(), StandardCharsets.UTF_8);
        System.err.println(response.statusCode() + " " + problem);
        var available = Pattern.compile("\"available\":(\\d+)").matcher(problem);
        if (problem.contains("\"code\":\"capacity_exceeded\"") && available.find()) {
            System.err.println("full: " + available.group(1) + " bytes are left");
        }
        System.exit(1);
    }

    private static HttpRequest.Builder request(String name) {
        String path = URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20").replace("%2F", "/");
        return HttpRequest.newBuilder(URI.create(System.getenv("BASE_URL") + "/users/me/repo/" + path))
            .header("Cookie", "access_token=" + System.getenv("ACCESS_TOKEN"));
    }
}
