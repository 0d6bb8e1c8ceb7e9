/** Names of Ruby itself. */
import { wordSet } from "../../lib/word-set.ts";

const CONSTANTS = wordSet(
  `ArgumentError Array BasicObject Binding Class Comparable Complex Data Date DateTime Dir ENV EOFError Encoding Enumerable Enumerator
   Errno Exception FalseClass Fiber File FileTest FileUtils Float FrozenError GC Hash IO IOError IndexError Integer JSON Kernel KeyError
   LoadError Logger Marshal MatchData Math Method Module Monitor Mutex NameError NilClass NoMethodError NotImplementedError Numeric
   Object ObjectSpace OpenStruct Pathname Proc Process Queue Ractor Random Range RangeError Rational Regexp RuntimeError SecurityError Set Signal
   SignalException StandardError StopIteration String StringIO StringScanner Struct Symbol SystemCallError SystemExit SystemStackError
   Thread ThreadError Time TracePoint TrueClass TypeError UnboundMethod YAML ZeroDivisionError`,
);

const METHODS = wordSet(
  `__id__ __method__ __send__ abort alias_method attr attr_accessor attr_reader attr_writer autoload binding block_given? caller
   caller_locations catch class clone define_method define_singleton_method display dup eql? equal? eval exec exit exit! extend fail
   fork format freeze frozen? gets global_variables hash include inspect instance_eval instance_exec instance_of?
   instance_variable_defined? instance_variable_get instance_variable_set instance_variables instance_method instance_methods is_a? itself
   kind_of? lambda load local_variables loop method method_defined? methods module_function nil? object_id p pp prepend print printf
   private private_class_method private_constant proc protected public public_method public_send putc puts raise rand require
   require_relative respond_to? select send singleton_class singleton_methods sleep spawn sprintf srand syscall system tap then
   throw trap undef_method warn`,
);

/** Whether a top-level constant belongs to Ruby or its standard library, so that files only extend it. */
export const isCoreConstant = (name: string): boolean => CONSTANTS.has(name);

/** Whether every object, or every class, has a method of this name. */
export const isCoreMethod = (name: string): boolean => METHODS.has(name);
