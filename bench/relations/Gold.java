import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.File;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.lang.model.type.*;
import javax.tools.*;

/** Prints the calls of a checkout as javac resolves them; the form is that of gold.go. A construction leads to its class. */
public class Gold {
  public static void main(String[] args) throws Exception {
    Path root = Paths.get(args[0]).toRealPath();
    List<File> files = new ArrayList<>();
    try (var walk = Files.walk(root)) {
      walk.filter(p -> p.toString().endsWith(".java") && !p.endsWith("module-info.java") && !p.endsWith("package-info.java"))
          .forEach(p -> files.add(p.toFile()));
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null);
    List<String> options = List.of("-proc:none", "-Xmaxerrs", "1", "-nowarn", "--should-stop=ifError=FLOW", "--should-stop=at=FLOW");
    JavacTask task = (JavacTask) compiler.getTask(null, manager, d -> {}, options, null, manager.getJavaFileObjectsFromFiles(files));
    List<CompilationUnitTree> units = new ArrayList<>();
    task.parse().forEach(units::add);
    try {
      task.analyze();
    } catch (Throwable error) {
      System.err.println("javac stopped: " + error);
    }
    Trees trees = Trees.instance(task);
    SourcePositions positions = trees.getSourcePositions();
    StringBuilder out = new StringBuilder();
    for (CompilationUnitTree unit : units) {
      String path = root.relativize(Paths.get(unit.getSourceFile().toUri())).toString();
      LineMap lines = unit.getLineMap();
      String text = unit.getSourceFile().getCharContent(true).toString();
      new TreePathScanner<Void, Void>() {
        @Override
        public Void visitMethodInvocation(MethodInvocationTree node, Void nothing) {
          Tree select = node.getMethodSelect();
          String name = select instanceof MemberSelectTree m ? m.getIdentifier().toString() : select.toString();
          long end = positions.getEndPosition(unit, select);
          if (node.getArguments().stream().noneMatch(this::isUnknown))
            print(name, end - name.length(), trees.getElement(new TreePath(getCurrentPath(), select)));
          return super.visitMethodInvocation(node, nothing);
        }

        /** Whether an argument is of a type that is not there, or of its class: any overload may be meant. */
        boolean isUnknown(Tree argument) {
          TypeMirror type = trees.getTypeMirror(new TreePath(getCurrentPath(), argument));
          if (type instanceof DeclaredType declared)
            return type.getKind() == TypeKind.ERROR || declared.getTypeArguments().stream().anyMatch(each -> each.getKind() == TypeKind.ERROR);
          return false;
        }

        @Override
        public Void visitNewClass(NewClassTree node, Void nothing) {
          Tree type = node.getIdentifier();
          if (type instanceof ParameterizedTypeTree p) type = p.getType();
          String name = type.toString().replaceAll("^.*\\.", "");
          long end = positions.getEndPosition(unit, type);
          Element element = trees.getElement(new TreePath(getCurrentPath(), type));
          print(name, end - name.length(), element);
          return super.visitNewClass(node, nothing);
        }

        void print(String name, long at, Element element) {
          if (at < 0 || name.equals("super") || name.equals("this") || element == null) return;
          if (element.asType().getKind() == TypeKind.ERROR) return;
          String to = "-\t0";
          TreePath found = trees.getPath(element);
          if (found != null) {
            CompilationUnitTree other = found.getCompilationUnit();
            Path file = Paths.get(other.getSourceFile().toUri());
            long line = nameLine(other, found.getLeaf(), element.getSimpleName().toString());
            to = root.relativize(file) + "\t" + line;
            boolean isAbstract = element.getKind() == ElementKind.METHOD && element.getModifiers().contains(Modifier.ABSTRACT);
            if (isAbstract) to = "dispatch\t0";
          }
          out.append(path).append('\t').append(lines.getLineNumber(at)).append('\t').append(name).append('\t').append(to).append('\n');
        }

        long nameLine(CompilationUnitTree other, Tree leaf, String name) {
          try {
            String own = other.getSourceFile().getCharContent(true).toString();
            long start = positions.getStartPosition(other, leaf);
            Tree modifiers = leaf instanceof MethodTree m ? m.getModifiers() : leaf instanceof ClassTree c ? c.getModifiers() : null;
            long after = modifiers == null ? start : Math.max(start, positions.getEndPosition(other, modifiers));
            var matcher = java.util.regex.Pattern.compile("\\b" + java.util.regex.Pattern.quote(name) + "\\b\\s*" + (leaf instanceof MethodTree ? "\\(" : "")).matcher(own);
            return other.getLineMap().getLineNumber(matcher.find((int) after) ? matcher.start() : start);
          } catch (Exception error) {
            return 0;
          }
        }
      }.scan(unit, null);
    }
    System.out.print(out);
  }
}
