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
import java.util.UUID;

/**
 * Uploads and downloads with HttpClient of Java 17. BASE_URL and ACCESS_TOKEN come from the environment.
 *
 * <pre>
 * java Client.java upload FILE NAME
 * java Client.java download NAME FILE
 * </pre>
 */
public class Client {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "upload" -> upload(Path.of(args[1]), args[2]);
            case "download" -> download(args[1], Path.of(args[2]));
            default -> throw new IllegalArgumentException("upload or download?");
        }
    }

    private static void upload(Path path, String name) throws Exception {
        String boundary = UUID.randomUUID().toString();
        String head = "--" + boundary + "\r\n"
            + "Content-Disposition: form-data; name=\"file\"; filename=\"file\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\n";
        String tail = "\r\n--" + boundary + "--\r\n";
        // Streams the file, and knows the length of the whole.
        var body = BodyPublishers.concat(
            BodyPublishers.ofString(head), BodyPublishers.ofFile(path), BodyPublishers.ofString(tail));
        var request = request(name)
            .header("Content-Type", "multipart/form-data; boundary=" + boundary)
            .POST(body);
        try (InputStream answer = send(request)) {
            answer.transferTo(System.out);
        }
    }

    private static void download(String name, Path path) throws Exception {
        try (InputStream content = send(request(name))) {
            // Whatever is there already stays until the whole content has come.
            Path part = Path.of(path + ".part");
            Files.copy(content, part, StandardCopyOption.REPLACE_EXISTING);
            Files.move(part, path, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static HttpRequest.Builder request(String name) {
        String segment = URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
        return HttpRequest.newBuilder(URI.create(System.getenv("BASE_URL") + "/users/me/repo/" + segment))
            .header("Cookie", "access_token=" + System.getenv("ACCESS_TOKEN"));
    }

    private static InputStream send(HttpRequest.Builder request) throws Exception {
        HttpResponse<InputStream> response = HTTP.send(request.build(), BodyHandlers.ofInputStream());
        if (response.statusCode() == 200) return response.body();
        try (InputStream problem = response.body()) {
            String text = new String(problem.readAllBytes(), StandardCharsets.UTF_8);
            throw new IOException(response.statusCode() + " " + text);
        }
    }
}
